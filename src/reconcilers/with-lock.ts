import { type CatalogueError, isCatalogueError } from '../domain/catalogue-error.ts'
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
  const told = withActed(outcome)
  if (!again) return told
  const acted = 'acted' in told && { acted: told.acted }
  return { kind: 'later', afterMs: 0, reason: 'something changed while we worked', ...acted }
}

/** Only what changes something takes the lock, unless the work says better. */
function withActed(outcome: Outcome): Outcome {
  return outcome.kind === 'settled' || outcome.kind === 'gone' ? { acted: true, ...outcome } : outcome
}

async function releaseAfter(held: HeldLock, work: (held: HeldLock) => Promise<Outcome>) {
  let outcome: Outcome
  try {
    outcome = await work(held)
  } catch (error) {
    const { again } = await held.release()
    // Most failures bring the key back by themselves; one for good must not take along who asked in the meantime.
    if (again && isCatalogueError(error) && error.retry === 'never') return { outcome: failed(error), again }
    throw error
  }
  return { outcome, ...(await held.release()) }
}

function failed(error: CatalogueError): Outcome {
  return { kind: 'failed', error }
}
