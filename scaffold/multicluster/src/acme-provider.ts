import {
  type BalancerResult,
  type LoadBalancerStatus,
  type MultiClusterProvider,
  type ProviderContext,
  type ProviderFactory,
  RetryAfter,
} from 'webhook-cloud-provider'
import { type AcmeApi, type AcmeBalancer, createAcmeApi } from './acme-api.ts'

/** In the configuration, and in our finalizer. */
export const NAME = 'acme'

/** When to ask again for what takes the cloud a while. */
const LOOK_AGAIN_MS = 5_000

/**
 * Balancers of Acme for MultiClusterIngress. `mcsLoadBalancer`, for MultiClusterService, has the same methods with `MCS`
 * in their names; leave out what your cloud cannot do.
 */
export function acmeProvider(api: AcmeApi, lookAgainMs = LOOK_AGAIN_MS): MultiClusterProvider {
  /** All that the balancer is made from; an equal fingerprint stands for equal wishes. */
  async function put(
    spec: unknown,
    { identity, backends, fingerprint, signal }: ProviderContext,
  ): Promise<BalancerResult> {
    const { address } = await api.put(identity, { spec, backends, fingerprint }, signal)
    // Never wait inside a call: say so, and be called again.
    if (address === undefined) throw new RetryAfter(lookAgainMs, 'acme is still building it')
    return { status: statusOf(address) }
  }

  return {
    name: NAME,
    loadBalancer: {
      async getLoadBalancer(_ingress, { identity, signal }) {
        const found = await api.find(identity, signal)
        return found && recordOf(found)
      },
      ensureLoadBalancer: (ingress, context) => put(ingress.spec, context),
      updateLoadBalancer: async (ingress, context) => ({ ...(await put(ingress.spec, context)), changed: true }),
      async ensureLoadBalancerDeleted(_ingress, { identity, signal }) {
        if (await api.remove(identity, signal)) throw new RetryAfter(lookAgainMs, 'acme is removing it')
      },
      async listLoadBalancers({ clusterId, signal }) {
        const all = (await api.list(clusterId, signal)).map(({ identity }) => identity)
        return all.filter(({ kind }) => kind === 'MultiClusterIngress')
      },
    },
  }
}

/** `provider: { name: acme, options: { endpoint: …, tokenFile: … } }` */
export const acmeProviderFactory: ProviderFactory = ({ options, fault }) => {
  const text = (name: string) => {
    const value = options[name]
    if (typeof value !== 'string' || value === '') fault(name, 'must be a text')
    return String(value)
  }
  return acmeProvider(createAcmeApi({ endpoint: text('endpoint'), tokenFile: text('tokenFile') }))
}

/** Without an address yet it states no fingerprint: its making is not finished. */
function recordOf({ address, fingerprint }: AcmeBalancer) {
  if (address === undefined) return {}
  return { status: statusOf(address), ...(fingerprint === undefined ? {} : { fingerprint }) }
}

function statusOf(address: string): LoadBalancerStatus {
  return { ingress: [{ ip: address }] }
}
