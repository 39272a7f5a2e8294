import type { Outcome } from '../domain/outcome.ts'
import type { WorkResult } from '../domain/requeue.ts'
import { nextLookAfter } from '../domain/visibility.ts'

/** For a caller that keeps the work itself: what is not visible yet is not done, so it is to come back. */
export function nextLook({ outcome, waiting }: WorkResult, now: number): Outcome {
  if (waiting.length === 0 || outcome.kind === 'later' || outcome.kind === 'failed') return outcome
  return { kind: 'later', afterMs: nextLookAfter(waiting, now), reason: 'an announced change is not visible yet' }
}
