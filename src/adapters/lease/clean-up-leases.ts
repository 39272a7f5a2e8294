import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { Lease } from '../../domain/lease.ts'
import { hasNotes, holderOf, isMarked, keyOfLease, leaseSelector, takenAt } from '../../domain/lease-record.ts'
import { keyOf, type ObjectKey } from '../../domain/object-key.ts'
import type { CallOptions } from '../../ports/cluster-store.ts'
import type { LeaseLockOptions } from './lease-lock-options.ts'
import { leaseName } from './lease-name.ts'

type CleanUpOptions = Pick<LeaseLockOptions, 'store' | 'serverClock' | 'digest' | 'namespace' | 'owner' | 'marginMs'>

export interface LeaseCleanUp {
  removed: number
  /** Keys whose holder died: somebody should look, for it may have been asked to. */
  abandoned: ObjectKey[]
}

/**
 * Removes what is left of holders that died, and old notes. A Lease that is held is left alone.
 */
export async function cleanUpLeases(options: CleanUpOptions, call: CallOptions): Promise<LeaseCleanUp> {
  const result: LeaseCleanUp = { removed: 0, abandoned: [] }
  for await (const lease of ownLeases(options, call)) {
    if (holderOf(lease, options.serverClock.serverNow(), options.marginMs) !== undefined) continue
    const key = keyOfLease(lease)
    if (key === undefined || lease.metadata.name !== leaseName(options.owner, key, options.digest)) continue
    if (lease.spec?.holderIdentity || isMarked(lease)) result.abandoned.push(key)
    if (hasNotes(lease, options.serverClock.serverNow()) && isFresh(lease, options)) continue
    if (await remove(lease, options, call)) result.removed += 1
  }
  return result
}

// What is noted is noted for the next pass, or the next sweep: what is left of it after a day nobody looks for.
const NOTES_KEPT_MS = 86_400_000

/** Whether somebody held it not long ago, so that its notes may still be needed, the object's existence aside. */
function isFresh(lease: Lease, { serverClock }: CleanUpOptions): boolean {
  return serverClock.serverNow() - takenAt(lease) < NOTES_KEPT_MS
}

/** Who holds a Lease of this installation at this moment: whoever works. */
export async function leaseHolders(options: CleanUpOptions, call: CallOptions): Promise<string[]> {
  const holders = new Set<string>()
  for await (const lease of ownLeases(options, call)) {
    const holder = holderOf(lease, options.serverClock.serverNow(), options.marginMs)
    if (holder !== undefined) holders.add(holder)
  }
  return [...holders]
}

/** Removes every Lease of this installation that nobody holds, with all that is noted on it: for when nobody comes back. */
export async function removeLeases(options: CleanUpOptions, call: CallOptions): Promise<{ removed: number }> {
  let removed = 0
  for await (const lease of ownLeases(options, call)) {
    if (holderOf(lease, options.serverClock.serverNow(), options.marginMs) !== undefined) continue
    if (await remove(lease, options, call)) removed += 1
  }
  return { removed }
}

async function* ownLeases({ store, namespace, owner }: CleanUpOptions, call: CallOptions): AsyncGenerator<Lease> {
  let token: string | undefined
  do {
    const page = await store.list('Lease', {
      ...call,
      namespace,
      labelSelector: leaseSelector(owner),
      limit: 500,
      ...(token === undefined ? {} : { continue: token }),
    })
    yield* page.items
    token = page.continue
  } while (token !== undefined)
}

/** False when somebody took it meanwhile. */
async function remove(lease: Lease, { store }: CleanUpOptions, call: CallOptions): Promise<boolean> {
  const { uid = '', resourceVersion = '' } = lease.metadata
  try {
    await store.delete(keyOf('Lease', lease), { ...call, preconditions: { uid, resourceVersion } })
    return true
  } catch (error) {
    if (isCatalogueError(error, 'Conflict') || isCatalogueError(error, 'NotFound')) return false
    throw error
  }
}
