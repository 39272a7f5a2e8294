import type { ServerTime } from '../../src/adapters/kubernetes/server-time.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Machine } from './machine.ts'
import type { ManualClock } from './manual-clock.ts'

/** What happens to one request on its way. */
export type Fault =
  | { kind: 'none' }
  /** Both ways take this long each. */
  | { kind: 'slow'; ms: number }
  /** It never arrives. */
  | { kind: 'lostBefore' }
  /** It is done after so long, and the answer never arrives. */
  | { kind: 'lostAfter'; ms: number }

interface Surroundings {
  clock: ManualClock
  machine: Machine
  serverTime: ServerTime
  fault: () => Fault
  requests: string[]
}

const TIMEOUT_MS = 10_000

/** The network between a machine and the API server; each answer carries the server's time in whole seconds. */
export function unreliableStore(store: ClusterStore, surroundings: Surroundings): ClusterStore {
  const { clock, machine, serverTime, fault, requests } = surroundings
  const never = new Promise<never>(() => {})
  const pause = (ms: number) => (ms === 0 ? Promise.resolve() : new Promise<void>((done) => void clock.after(ms, done)))

  async function deliver<T>(action: () => Promise<T>): Promise<T> {
    const happens = fault()
    const sentAt = machine.clock.now()
    if (happens.kind === 'lostBefore') return never
    await pause('ms' in happens ? happens.ms : 0)
    const date = new Date(clock.now()).toUTCString()
    const result = await Promise.allSettled([action()])
    if (happens.kind === 'lostAfter') return never
    await pause('ms' in happens ? happens.ms : 0)
    await machine.awake()
    serverTime.observe(date, sentAt)
    if (result[0].status === 'rejected') throw result[0].reason
    return result[0].value
  }

  /** Given up at the signal or after the timeout; what was sent goes its way. */
  function send<T>(name: string, signal: AbortSignal, action: () => Promise<T>): Promise<T> {
    requests.push(name)
    return new Promise<T>((resolve, reject) => {
      const giveUp = () => reject(new CatalogueError('ApiTimeout', 'no answer'))
      if (signal.aborted) return giveUp()
      signal.addEventListener('abort', giveUp, { once: true })
      const cancel = machine.clock.after(TIMEOUT_MS, giveUp)
      deliver(action)
        .then(resolve, reject)
        .finally(() => {
          cancel()
          signal.removeEventListener('abort', giveUp)
        })
    })
  }

  const always = { signal: new AbortController().signal }
  return {
    get: (key, { signal }) => send(`get ${key.kind}`, signal, () => store.get(key, always)),
    list: (kind, options) => send(`list ${kind}`, options.signal, () => store.list(kind, { ...options, ...always })),
    create: (kind, object, { signal }) => send(`create ${kind}`, signal, () => store.create(kind, object, always)),
    patch: (key, patch, options) =>
      send(`patch ${key.kind}`, options.signal, () => store.patch(key, patch, { ...options, ...always })),
    delete: (key, options) =>
      send(`delete ${key.kind}`, options.signal, () => store.delete(key, { ...options, ...always })),
  }
}
