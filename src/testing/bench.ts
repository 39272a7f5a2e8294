import { isProviderError } from '../provider/errors.ts'
import type { BalancerIdentity, BalancerRecord, BalancerResult } from '../provider/multicluster.ts'
import { ConformanceFault } from './conformance-fault.ts'
import type { TestedBalancer } from './tested-balancer.ts'

export interface BenchOptions {
  /** How long the cloud may go on saying `RetryAfter`, in milliseconds. */
  patienceMs: number
  wait(ms: number): Promise<void>
  now(): number
}

/** What a check works with: a balancer interface, identities of its own, and patience. */
export interface Bench {
  balancer: TestedBalancer
  /** An identity that no other check uses. */
  identity(changes?: Partial<BalancerIdentity>): BalancerIdentity
  get(identity: BalancerIdentity): Promise<BalancerRecord | undefined>
  /** Until it is finished: `RetryAfter` is waited for. */
  ensure(identity: BalancerIdentity, revision?: number): Promise<BalancerResult>
  update(identity: BalancerIdentity, revision?: number): Promise<BalancerResult>
  delete(identity: BalancerIdentity): Promise<void>
  deleteGone(identity: BalancerIdentity): Promise<void>
  /** How one call ends within `patienceMs`. */
  outcomeOf(call: Promise<unknown>): Promise<CallOutcome>
  patienceMs: number
  /** Deletes whatever the check made. */
  cleanUp(): Promise<void>
}

export type CallOutcome = 'answered' | 'rejected' | 'pending'

const LOOK_EVERY_MS = 5
const LONGEST_WAIT_MS = 1_000

export const CLUSTER_ID = 'conformance'

export function createBench(balancer: TestedBalancer, name: string, options: BenchOptions): Bench {
  const { patienceMs, wait, now } = options
  const made: BalancerIdentity[] = []
  let identities = 0

  async function outcomeOf(call: Promise<unknown>): Promise<CallOutcome> {
    const found: { outcome: CallOutcome } = { outcome: 'pending' }
    const note = (outcome: CallOutcome) => () => {
      found.outcome = outcome
    }
    call.then(note('answered'), note('rejected'))
    for (const until = now() + patienceMs; found.outcome === 'pending' && now() < until; ) await wait(LOOK_EVERY_MS)
    return found.outcome
  }

  async function attempt<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const answer = call(controller.signal)
    if ((await outcomeOf(answer)) !== 'pending') return answer
    controller.abort(new Error('deadline'))
    throw new ConformanceFault(`${what} has not answered within ${patienceMs} ms: throw RetryAfter instead of waiting`)
  }

  async function patiently<T>(what: string, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (const until = now() + patienceMs; ; ) {
      try {
        return await attempt(what, call)
      } catch (error) {
        if (!isProviderError(error) || error.kind !== 'RetryAfter') throw failure(what, error)
        if (now() >= until)
          throw new ConformanceFault(`${what} still says RetryAfter after ${patienceMs} ms: ${error.message}`)
        await wait(Math.min(error.afterMs, LONGEST_WAIT_MS))
      }
    }
  }

  return {
    balancer,
    patienceMs,
    outcomeOf,
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

function failure(what: string, error: unknown): ConformanceFault {
  if (error instanceof ConformanceFault) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ConformanceFault(`${what} fails: ${message}`, { cause: error })
}
