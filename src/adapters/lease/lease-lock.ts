import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import type { Lease } from '../../domain/lease.ts'
import { holderOf, isMarked, leaseLabels, markPatch, newLease, noteOf, takePatch } from '../../domain/lease-record.ts'
import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import type { CallOptions } from '../../ports/cluster-store.ts'
import type { HeldLock, Lock } from '../../ports/lock.ts'
import { createHeldLease, type HeldLease } from './held-lease.ts'
import type { LeaseLockOptions } from './lease-lock-options.ts'
import { leaseName } from './lease-name.ts'
import { createHolderWatch } from './watch-holder.ts'

// Each lost round means that somebody else got through.
const ROUNDS = 10

/**
 * One writer per object among all instances: a Lease a key, that exists only while it is held (or keeps a note). It is
 * given back by deleting exactly the version we know; whoever comes while it is held marks it, so that this fails once
 * and the holder learns that it must look again.
 */
export function createLeaseLock(options: LeaseLockOptions): Lock {
  const { store, serverClock, clock, digest, logger, namespace, owner, instance, durationMs, marginMs } = options
  const held = new Map<string, HeldLease>()
  const entering = new Map<string, Promise<unknown>>()
  const { onAbandoned } = options
  const watchHolder = onAbandoned && createHolderWatch({ ...options, onAbandoned })

  async function acquire(key: ObjectKey, call: CallOptions): Promise<HeldLock | undefined> {
    const id = formatKey(key)
    // Within this process one asks after the other.
    while (entering.has(id)) await entering.get(id)
    if (held.get(id)?.markAgain()) return undefined
    const entry = enter(key, call)
    entering.set(
      id,
      entry.then(
        () => entering.delete(id),
        () => entering.delete(id),
      ),
    )
    return entry
  }

  async function enter(key: ObjectKey, call: CallOptions): Promise<HeldLock | undefined> {
    const leaseKey = leaseKeyOf(key)
    for (let round = 0; round < ROUNDS; round += 1) {
      const found = await store.get(leaseKey, call)
      const takenAt = clock.now()
      try {
        if (found !== undefined && isHeldByAnother(found)) {
          // A mark that is there was not seen by the holder's release, or it would be gone.
          if (!isMarked(found)) await store.patch(leaseKey, { type: 'json', operations: markPatch(found) }, call)
          watchHolder?.(key, found)
          return undefined
        }
        const lease = await take(key, leaseKey, found, call)
        const again = found !== undefined && isMarked(found)
        // An answer that took as long as the lock holds is of no use; what it says is ours we take once more.
        if (clock.now() < takenAt + durationMs) return hold(key, lease, takenAt, again)
      } catch (error) {
        if (!isLostRound(error, found)) throw error
      }
    }
    throw new CatalogueError('Conflict', 'too many want the lock at a time', { object: key })
  }

  function leaseKeyOf(key: ObjectKey): ObjectKey & { kind: 'Lease' } {
    return { kind: 'Lease', namespace, name: leaseName(owner, key, digest) }
  }

  async function peek(key: ObjectKey, name: string, call: CallOptions): Promise<string | undefined> {
    const lease = await store.get(leaseKeyOf(key), call)
    return lease && noteOf(lease, name)
  }

  /** What this process holds it knows; a Lease in its name beside that comes from a request whose answer was lost. */
  function isHeldByAnother(lease: Lease): boolean {
    const holder = holderOf(lease, serverClock.serverNow(), marginMs)
    return holder !== undefined && holder !== instance
  }

  function take(
    key: ObjectKey,
    leaseKey: ObjectKey & { kind: 'Lease' },
    found: Lease | undefined,
    call: CallOptions,
  ): Promise<Lease> {
    const taking = { holder: instance, now: serverClock.serverNow(), durationMs }
    if (found !== undefined) return store.patch(leaseKey, { type: 'merge', body: takePatch(found, taking) }, call)
    const metadata = { name: leaseKey.name, namespace, labels: leaseLabels(owner, key) }
    return store.create('Lease', newLease(metadata, key, taking), call)
  }

  function hold(key: ObjectKey, lease: Lease, takenAt: number, again: boolean): HeldLock {
    const id = formatKey(key)
    const holding = createHeldLease({
      store,
      serverClock,
      clock,
      logger: logger.child({ lock: id }),
      durationMs,
      key,
      lease,
      takenAt,
      again,
      onEnd() {
        if (held.get(id) === holding) held.delete(id)
      },
    })
    held.set(id, holding)
    return holding
  }

  return { acquire, peek }
}

/** Somebody was faster; without a namespace there is nothing to be faster at. */
function isLostRound(error: unknown, found: Lease | undefined): boolean {
  if (isCatalogueError(error, 'NotFound')) return found !== undefined
  return isCatalogueError(error, 'Conflict') || isCatalogueError(error, 'AlreadyExists')
}
