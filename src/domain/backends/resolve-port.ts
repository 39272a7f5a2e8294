import type { Cidr } from '../cidr.ts'
import type { EndpointSlice } from '../endpoint-slice.ts'
import type { ServicePort } from '../service.ts'
import type { BackendEndpoint, BackendPool, PortBackend, ResolvedState } from './backends.ts'
import { collectEndpoints, endpointIdentity, type FoundEndpoint } from './collect-endpoints.ts'

/** Which clusters get a pool, and which of them are to have none of the traffic. */
export interface PoolScope {
  clusters: readonly string[]
  blocked: ReadonlySet<string>
}

/** One Service port with a pool a cluster, and the clusters with endpoints whose addresses were refused. */
export function resolvePort(
  port: ServicePort,
  { clusters, blocked }: PoolScope,
  byCluster: ReadonlyMap<string, readonly EndpointSlice[]>,
  networks: readonly Cidr[] | undefined,
): { port: PortBackend<ResolvedState>; refusing: string[] } {
  const taken = new Set<string>()
  const refusing: string[] = []
  const found = clusters.map((cluster) => {
    const slices = blocked.has(cluster) ? [] : (byCluster.get(cluster) ?? [])
    const { endpoints, refused } = collectEndpoints(slices, port, networks)
    if (refused) refusing.push(cluster)
    const fresh = endpoints.filter((endpoint) => !taken.has(endpointIdentity(endpoint)))
    for (const endpoint of fresh) taken.add(endpointIdentity(endpoint))
    const without: ResolvedState = blocked.has(cluster) ? 'blocked' : slices.length === 0 ? 'missing' : 'empty'
    return { cluster, without, endpoints: fresh }
  })
  const anyReady = found.some(({ endpoints }) => endpoints.some(({ ready }) => ready))
  const pools = found.map(({ cluster, without, endpoints }): BackendPool<ResolvedState> => {
    const marked = endpoints.map((endpoint) => withDraining(endpoint, anyReady))
    const serves = marked.some(({ draining }) => !draining)
    return { cluster, state: serves ? 'serving' : without, endpoints: marked }
  })
  return { port: { ...describePort(port), pools, state: stateOfPort(pools) }, refusing }
}

/** What a provider is told of a Service port. */
export function describePort({ port, name = '', protocol = 'TCP', appProtocol }: ServicePort) {
  return { port, name, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }
}

/** kube-proxy's rule: while nothing is ready, what serves until it has terminated is better than nothing. */
function withDraining(endpoint: FoundEndpoint, anyReady: boolean): BackendEndpoint {
  return { ...endpoint, draining: anyReady && !endpoint.ready }
}

function stateOfPort(pools: readonly BackendPool<ResolvedState>[]): PortBackend<ResolvedState>['state'] {
  if (pools.some(({ state }) => state === 'serving')) return 'serving'
  return pools.length === 0 || pools.some(({ state }) => state === 'missing') ? 'missing' : 'empty'
}
