import {
  type CloudLoadBalancer,
  type CloudProvider,
  defaultLoadBalancerName,
  type EnsureContext,
  type LoadBalancerStatus,
  type Node,
  type ProviderFactory,
  RetryAfter,
  type Service,
} from 'webhook-cloud-provider'
import { type AcmeApi, type AcmeBalancer, createAcmeApi } from './acme-api.ts'

/** In the configuration, and in our finalizer. */
export const NAME = 'acme'

/** When to ask again for what takes the cloud a while. */
const LOOK_AGAIN_MS = 5_000

/** Acme under one cluster: balancers. Add `instancesV2` for nodes, and `routes`, as your cloud has them. */
export function acmeCloud(api: AcmeApi, lookAgainMs = LOOK_AGAIN_MS): CloudProvider {
  const loadBalancer = balancersOf(api, lookAgainMs)
  return {
    initialize: () => undefined,
    loadBalancer: () => loadBalancer,
    instances: () => undefined,
    zones: () => undefined,
    clusters: () => undefined,
    routes: () => undefined,
    providerName: () => NAME,
    // Each balancer is named by its cluster, so two clusters of one account do not touch each other's.
    hasClusterID: () => true,
  }
}

function balancersOf(api: AcmeApi, lookAgainMs: number): CloudLoadBalancer {
  async function put(service: Service, nodes: readonly Node[], context: EnsureContext) {
    const { identity, options, sourceRanges, healthCheck, fingerprint, signal } = context
    const hosts = nodes.map(({ metadata, spec }) => ({ name: metadata.name, providerID: spec?.providerID }))
    const wanted = { ports: service.spec?.ports, hosts, options, sourceRanges, healthCheck, fingerprint }
    const { address } = await api.put(identity, wanted, signal)
    // Never wait inside a call: say so, and be called again.
    if (address === undefined) throw new RetryAfter(lookAgainMs, 'acme is still building it')
    return { status: statusOf(address) }
  }

  return {
    getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
    async getLoadBalancer(_cluster, _service, { identity, signal }) {
      const found = await api.find(identity, signal)
      return found && recordOf(found)
    },
    ensureLoadBalancer: (_cluster, service, nodes, context) => put(service, nodes, context),
    updateLoadBalancer: (_cluster, service, nodes, context) => put(service, nodes, context),
    async ensureLoadBalancerDeleted(_cluster, _service, { identity, signal }) {
      if (await api.remove(identity, signal)) throw new RetryAfter(lookAgainMs, 'acme is removing it')
    },
    listLoadBalancers: async (_cluster, { clusterId, signal }) =>
      (await api.list(clusterId, signal)).map(({ identity }) => identity),
    supports: { protocols: ['TCP'], sourceRanges: true },
  }
}

/** `provider: { name: acme, options: { endpoint: …, tokenFile: … } }` */
export const acmeProviderFactory: ProviderFactory = ({ options, fault }) => {
  const text = (name: string) => {
    const value = options[name]
    if (typeof value !== 'string' || value === '') fault(name, 'must be a text')
    return String(value)
  }
  const api = createAcmeApi({ endpoint: text('endpoint'), tokenFile: text('tokenFile') })
  return { name: NAME, cloudProvider: acmeCloud(api) }
}

/** Without an address yet it states no fingerprint: its making is not finished. */
function recordOf({ address, fingerprint }: AcmeBalancer) {
  if (address === undefined) return {}
  return { status: statusOf(address), ...(fingerprint === undefined ? {} : { fingerprint }) }
}

function statusOf(address: string): LoadBalancerStatus {
  return { ingress: [{ ip: address }] }
}
