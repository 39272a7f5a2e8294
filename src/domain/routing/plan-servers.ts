import type { BackendEndpoint, BackendPool, PortBackend } from '../backends/backends.ts'
import { compareTexts } from '../compare-texts.ts'
import type { PlannedServer, PlannedUpstream } from './route-plan.ts'
import { type ClusterWeights, serverWeights } from './server-weights.ts'

/**
 * The servers of a Service port, by address and port. Pods of blocked clusters are not among them; endpoints that drain
 * have weight 0.
 */
export function planServers(
  { pools, state }: PortBackend,
  weights: ClusterWeights | undefined,
): Pick<PlannedUpstream, 'state' | 'servers'> {
  const open = pools.filter((pool) => pool.state !== 'blocked')
  const taking = open.map(({ cluster, endpoints }) => ({ cluster, endpoints: endpoints.filter(takesNew).length }))
  const byCluster = serverWeights(
    taking.filter(({ endpoints }) => endpoints > 0),
    weights,
  )
  const servers = open.flatMap((pool) => serversOf(pool, byCluster.get(pool.cluster) ?? [])).sort(byAddress)
  // `serving` without any server is an ExternalName, which is resolved by nobody here.
  return { state: state === 'serving' && servers.length === 0 ? 'empty' : state, servers }
}

function serversOf({ cluster, endpoints }: BackendPool, weights: readonly number[]): PlannedServer[] {
  const remaining = [...weights]
  return endpoints.map((endpoint) => ({
    address: endpoint.address,
    port: endpoint.port,
    cluster,
    weight: takesNew(endpoint) ? (remaining.shift() ?? 0) : 0,
  }))
}

function takesNew({ draining }: BackendEndpoint): boolean {
  return !draining
}

function byAddress(a: PlannedServer, b: PlannedServer): number {
  return compareTexts(a.address, b.address) || a.port - b.port
}
