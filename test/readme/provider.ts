import {
  type BalancerIdentity,
  createProviderRegistry,
  type MultiClusterProvider,
  RetryAfter,
  runFunction,
} from 'webhook-cloud-provider'

/** A cloud with a REST API: one balancer an object, named by its identity. */
export function acmeProvider(endpoint: string, token: string): MultiClusterProvider {
  const call = async (method: string, identity: BalancerIdentity, signal: AbortSignal, body?: object) => {
    const { clusterId, kind, namespace, name, uid } = identity
    const id = encodeURIComponent([clusterId, kind, namespace, name, uid].join('/'))
    const response = await fetch(`${endpoint}/balancers/${id}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.status === 404) return undefined
    if (response.status === 429) throw new RetryAfter(30_000, 'acme asks us to slow down')
    if (!response.ok) throw new Error(`acme answered ${response.status}`)
    const balancer = (await response.json()) as { address?: string; fingerprint?: string }
    if (method === 'PUT' && balancer.address === undefined) throw new RetryAfter(5_000, 'acme is still building it')
    return balancer
  }
  const status = (address?: string) => (address === undefined ? {} : { status: { ingress: [{ ip: address }] } })
  return {
    name: 'acme',
    loadBalancer: {
      async getLoadBalancer(_ingress, { identity, signal }) {
        const found = await call('GET', identity, signal)
        if (found === undefined) return undefined
        return { ...status(found.address), ...(found.fingerprint && { fingerprint: found.fingerprint }) }
      },
      async ensureLoadBalancer(ingress, { identity, signal, fingerprint }) {
        return status((await call('PUT', identity, signal, { identity, fingerprint, spec: ingress.spec }))?.address)
      },
      async updateLoadBalancer(ingress, context) {
        return { ...(await this.ensureLoadBalancer(ingress, context)), changed: true }
      },
      async ensureLoadBalancerDeleted(_ingress, { identity, signal }) {
        if ((await call('DELETE', identity, signal)) !== undefined) throw new RetryAfter(5_000, 'acme is removing it')
      },
    },
  }
}

/** `node --env-file=.env main.js`: the whole function. */
export const main = () =>
  runFunction({
    configFile: process.env['WCP_CONFIG'] ?? 'config.yaml',
    environment: process.env,
    registry: createProviderRegistry({
      acme: ({ options }) => acmeProvider(String(options['endpoint']), String(options['token'])),
    }),
    stopped: new Promise((resolve) => process.once('SIGTERM', resolve)),
    write: (line) => void process.stdout.write(line),
  })
