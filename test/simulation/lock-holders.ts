import { formatKey, type ObjectKey } from '../../src/domain/object-key.ts'
import type { HeldLock, Lock } from '../../src/ports/lock.ts'
import type { Journal } from './journal.ts'

/** One holding of the lock on one object, as its holder sees it. */
export interface Holding {
  id: string
  key: string
  held: HeldLock
  /** Ensures that were answered in it. */
  ensured: { uid: string; wasLeaving: boolean; faults: number }[]
  /** Uids whose deletion was asked for in it. */
  deleted: Set<string>
  /** Whether there was a Lease in its name when it began. */
  wasLeased: boolean
  /** Uid and version of the object as it was then, if it was ours to serve. */
  served: string | undefined
  /** Its process stood still since: it may not know yet that its time is over. */
  wasFrozen: boolean
}

export interface LockHolders {
  watch(lock: Lock, id: string): Lock
  /** What this instance holds; undefined also when it was told that it lost it. */
  of(id: string, key: string): Holding | undefined
  /** Another that lives and was not told that its lock is lost. */
  another(id: string, key: string): Holding | undefined
  /** Its process is gone. */
  forget(id: string): void
  freeze(id: string): void
  all(): Holding[]
}

export const ONE_HOLDER = 'one instance at a time holds the lock on an object'

export function createLockHolders(
  journal: Journal,
  isLeased: (id: string, key: ObjectKey) => boolean,
  servedVersion: (key: ObjectKey) => string | undefined,
  onEnd: (holding: Holding) => void,
): LockHolders {
  const holdings = new Set<Holding>()

  const another = (id: string, key: string) =>
    [...holdings].find((one) => one.key === key && one.id !== id && !one.wasFrozen && !one.held.lost.aborted)

  function begin(id: string, key: ObjectKey, held: HeldLock): HeldLock {
    const name = formatKey(key)
    const other = another(id, name)
    journal.checked(ONE_HOLDER)
    journal.say(`${id} holds ${name}`)
    if (other !== undefined) journal.violated(ONE_HOLDER, `${id} took ${name} while ${other.id} works on it`)
    const holding: Holding = {
      id,
      key: name,
      held,
      ensured: [],
      deleted: new Set(),
      wasLeased: isLeased(id, key),
      served: servedVersion(key),
      wasFrozen: false,
    }
    holdings.add(holding)
    return {
      ...held,
      release() {
        if (holdings.delete(holding)) {
          journal.say(`${id} gives ${name} back`)
          onEnd(holding)
        }
        return held.release()
      },
    }
  }

  return {
    watch: (lock, id) => ({
      ...lock,
      async acquire(key, options) {
        const held = await lock.acquire(key, options)
        return held === undefined ? undefined : begin(id, key, held)
      },
    }),
    of: (id, key) => [...holdings].find((one) => one.key === key && one.id === id && !one.held.lost.aborted),
    another,
    forget(id) {
      for (const holding of holdings) if (holding.id === id) holdings.delete(holding)
    },
    all: () => [...holdings],
    freeze(id) {
      for (const holding of holdings) if (holding.id === id) holding.wasFrozen = true
    },
  }
}
