import { readFile } from 'node:fs/promises'
import { type BalancerIdentity, RetryAfter } from 'webhook-cloud-provider'

/** A balancer as the cloud shows it. */
export interface AcmeBalancer {
  identity: BalancerIdentity
  /** Absent while it is being made. */
  address?: string
  fingerprint?: string
}

/** The calls of the cloud's API that the provider needs. Put those of your cloud here; the rest stays. */
export interface AcmeApi {
  find(identity: BalancerIdentity, signal: AbortSignal): Promise<AcmeBalancer | undefined>
  /** Makes it, or brings it to what is wanted. */
  put(identity: BalancerIdentity, wanted: object, signal: AbortSignal): Promise<AcmeBalancer>
  /** True while there is something to remove. */
  remove(identity: BalancerIdentity, signal: AbortSignal): Promise<boolean>
  list(clusterId: string, signal: AbortSignal): Promise<AcmeBalancer[]>
}

const SLOW_DOWN_MS = 30_000

/** Over HTTP; the token is read for each call, so that it can be replaced. */
export function createAcmeApi({ endpoint, tokenFile }: { endpoint: string; tokenFile: string }): AcmeApi {
  async function call(method: string, path: string, signal: AbortSignal, body?: object): Promise<unknown> {
    const token = (await readFile(tokenFile, 'utf8')).trim()
    const response = await fetch(`${endpoint}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (response.status === 404) return undefined
    if (response.status === 429) throw new RetryAfter(SLOW_DOWN_MS, 'acme asks us to slow down')
    // Shown to the object's owner: no secrets, and nothing that differs from one time to the next.
    if (!response.ok) throw new Error(`acme answered ${response.status}`)
    return await response.json()
  }

  return {
    find: async (identity, signal) => (await call('GET', pathOf(identity), signal)) as AcmeBalancer | undefined,
    put: async (identity, wanted, signal) =>
      (await call('PUT', pathOf(identity), signal, { identity, ...wanted })) as AcmeBalancer,
    remove: async (identity, signal) => (await call('DELETE', pathOf(identity), signal)) !== undefined,
    list: async (clusterId, signal) =>
      ((await call('GET', `/balancers?${new URLSearchParams({ clusterId })}`, signal)) ?? []) as AcmeBalancer[],
  }
}

/** By all of the identity: the uid alone does not say whose it is. */
function pathOf({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return `/balancers/${encodeURIComponent([clusterId, kind, namespace, name, uid].join('/'))}`
}
