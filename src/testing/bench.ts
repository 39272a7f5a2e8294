import type { BalancerIdentity, BalancerRecord, BalancerResult } from '../provider/multicluster.ts'
import type { Patience } from './patience.ts'
import type { TestedBalancer } from './tested-balancer.ts'

/** What a check works with: a balancer interface, identities of its own, and patience. */
export interface Bench extends Pick<Patience, 'outcomeOf' | 'patienceMs' | 'wait'> {
  balancer: TestedBalancer
  /** An identity that no other check uses. */
  identity(changes?: Partial<BalancerIdentity>): BalancerIdentity
  get(identity: BalancerIdentity): Promise<BalancerRecord | undefined>
  /** Until it is finished: `RetryAfter` is waited for. */
  ensure(identity: BalancerIdentity, revision?: number): Promise<BalancerResult>
  update(identity: BalancerIdentity, revision?: number): Promise<BalancerResult>
  delete(identity: BalancerIdentity): Promise<void>
  deleteGone(identity: BalancerIdentity): Promise<void>
  /** Deletes whatever the check made. */
  cleanUp(): Promise<void>
}

export const CLUSTER_ID = 'conformance'

export function createBench(balancer: TestedBalancer, name: string, patience: Patience): Bench {
  const { patiently, outcomeOf, patienceMs, wait } = patience
  const made: BalancerIdentity[] = []
  let identities = 0

  return {
    balancer,
    patienceMs,
    outcomeOf,
    wait,
    identity(changes = {}) {
      identities += 1
      const identity = {
        clusterId: CLUSTER_ID,
        kind: balancer.kind,
        namespace: 'conformance',
        name: `${name}-${identities}`,
        uid: `${name}-${identities}-uid`,
        ...changes,
      }
      made.push(identity)
      return identity
    },
    get: (identity) => patiently('get', (signal) => balancer.get({ identity, revision: 1, signal })),
    ensure: (identity, revision = 1) =>
      patiently('ensure', (signal) => balancer.ensure({ identity, revision, signal })),
    update: (identity, revision = 2) =>
      patiently('update', (signal) => balancer.update({ identity, revision, signal })),
    delete: (identity) => patiently('delete', (signal) => balancer.delete({ identity, revision: 1, signal })),
    deleteGone: (identity) =>
      patiently('delete of a gone object', (signal) => balancer.deleteGone({ identity, revision: 1, signal })),
    async cleanUp() {
      for (const identity of made) await this.delete(identity)
    },
  }
}
