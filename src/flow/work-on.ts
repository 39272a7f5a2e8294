import type { Outcome } from '../domain/outcome.ts'
import type { WorkResult } from '../domain/requeue.ts'
import type { Hint, WorkItem } from '../domain/work-item.ts'
import type { Flow } from './flow.ts'
import { knownReader } from './known-reader.ts'
import { lookForChanges } from './look-for-changes.ts'
import { outcomeOfError, reconcileKey } from './reconcile-key.ts'

/** One pass over one item: wait for what was announced, then reconcile what is there. Never throws. */
export async function workOn(item: WorkItem, flow: Flow, signal: AbortSignal): Promise<WorkResult> {
  const { reader, clock, logger } = flow
  try {
    const sighting = await lookForChanges(item, { reader, now: clock.now(), signal })
    if (!sighting.worthwhile) return { outcome: notYet(sighting.waiting), waiting: sighting.waiting }
    const outcome = await reconcileKey(item.key, flow, {
      reader: knownReader(reader, { objects: sighting.read }),
      signal,
    })
    return { outcome, waiting: sighting.waiting }
  } catch (error) {
    return { outcome: outcomeOfError(error, item.key, logger), waiting: item.hints }
  }
}

function notYet(waiting: readonly Hint[]): Outcome {
  const reason = waiting.length > 0 ? 'the announced change is not visible yet' : 'the announced change did not happen'
  return { kind: 'ignored', reason }
}
