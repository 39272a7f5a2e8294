import type { BalancerIdentity } from '../../provider/multicluster.ts'
import type { FakeListeners } from './fake-balancer-listeners.ts'

/** A balancer of the cloud; several Services may share one. */
export interface FakeBalancerBody {
  id: string
  address: string
  /** In milliseconds since the epoch: when its address is known. */
  readyAt: number
  /** `error` can be deleted, and nothing else. */
  state: 'active' | 'error'
  /** Made by a user: never deleted, never listed, and what is on it beside ours stays. */
  brought: boolean
  foreign: { ports: string[]; hosts: string[] }
}

/** What one Service has on a balancer; `made` may be changed by hand, and is then seen to differ from the fingerprint. */
export interface FakeServiceBalancer {
  identity: BalancerIdentity
  name: string
  body: FakeBalancerBody
  readonly address: string
  made: FakeListeners
  /** Of the last ensure or update that was finished. */
  finished: { fingerprint: string; made: string } | undefined
  internal: boolean
  retained: boolean
}

/** What the cloud holds. */
export interface FakeInventory {
  bodies: Map<string, FakeBalancerBody>
  parts: Map<string, FakeServiceBalancer>
  part(identity: BalancerIdentity): FakeServiceBalancer | undefined
  partsOf(body: FakeBalancerBody): FakeServiceBalancer[]
  /** A user's own, or one of ours. */
  makeBody(body: Partial<FakeBalancerBody>): FakeBalancerBody
  /** Takes one Service's part away, and its balancer with the last. */
  removePart(part: FakeServiceBalancer): void
}

export function createFakeInventory(): FakeInventory {
  const bodies = new Map<string, FakeBalancerBody>()
  const parts = new Map<string, FakeServiceBalancer>()
  let count = 0
  const partsOf = (body: FakeBalancerBody) => [...parts.values()].filter((part) => part.body === body)
  return {
    bodies,
    parts,
    part: (identity) => parts.get(formatIdentity(identity)),
    partsOf,
    makeBody(given) {
      count += 1
      const body: FakeBalancerBody = {
        id: `lb-${count}`,
        address: `192.0.2.${count + 9}`,
        readyAt: 0,
        state: 'active',
        brought: false,
        foreign: { ports: [], hosts: [] },
        ...given,
      }
      bodies.set(body.id, body)
      return body
    },
    removePart(part) {
      parts.delete(formatIdentity(part.identity))
      if (!part.body.brought && partsOf(part.body).length === 0) bodies.delete(part.body.id)
    },
  }
}

export function formatIdentity({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return [clusterId, kind, namespace, name, uid].join('/')
}
