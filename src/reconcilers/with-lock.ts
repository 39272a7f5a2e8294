import type { ObjectKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { HeldLock, Lock } from '../ports/lock.ts'

/**
 * Runs the work while nobody else writes to this object. A caller that comes second is done at once: the holder looks
 * once more when it finishes.
 */
export async function withLock(
  lock: Lock,
  key: ObjectKey,
  signal: AbortSignal,
  work: (held: HeldLock) => Promise<Outcome>,
): Promise<Outcome> {
  const held = await lock.acquire(key, { signal })
  if (held === undefined) return { kind: 'ignored', reason: 'another worker is at it and will look once more' }
  const { outcome, again } = await releaseAfter(held, work)
  return again ? { kind: 'later', afterMs: 0, reason: 'something changed while we worked' } : outcome
}

async function releaseAfter(held: HeldLock, work: (held: HeldLock) => Promise<Outcome>) {
  let outcome: Outcome
  try {
    outcome = await work(held)
  } catch (error) {
    // The failure brings the key back, so nobody who asked in the meantime is forgotten.
    await held.release()
    throw error
  }
  return { outcome, ...(await held.release()) }
}
