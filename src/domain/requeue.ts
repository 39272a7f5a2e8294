import type { Outcome } from './outcome.ts'
import { nextLookAfter } from './visibility.ts'
import { causedBy, type Hint, mergeItems, type WorkItem } from './work-item.ts'

/** What became of one pass over an item. */
export interface WorkResult {
  outcome: Outcome
  /** Changes that were announced and are not visible yet. */
  waiting: Hint[]
}

/** A further pass: of what, when, and whether the last one failed. */
export interface NextPass {
  item: WorkItem
  afterMs: number
  failed: boolean
}

/** Undefined when the key can be forgotten; else what asked for it has still to be done. `failures` counts the failed passes of this key before this one. */
export function nextPass(
  { key, causes }: WorkItem,
  result: WorkResult,
  failures: number,
  now: number,
): NextPass | undefined {
  const { outcome, waiting } = result
  const again = outcomeToRequeue(outcome, failures)
  const atOnce: WorkItem = { key, hints: [], ...causedBy(causes) }
  if (again !== undefined)
    return { item: waiting.length === 0 ? atOnce : mergeItems(atOnce, { key, hints: waiting }), ...again }
  if (waiting.length > 0) {
    const item = { key, hints: waiting, ...causedBy(causes) }
    return { item, afterMs: nextLookAfter(waiting, now), failed: false }
  }
  return undefined
}

const FIRST_BACKOFF_MS = 5_000
const LONGEST_BACKOFF_MS = 300_000

/** DESIGN §5, column "memory queue"; undefined means forget. */
export function outcomeToRequeue(outcome: Outcome, failures: number): { afterMs: number; failed: boolean } | undefined {
  switch (outcome.kind) {
    case 'settled':
    case 'gone':
    case 'ignored':
      return undefined
    case 'later':
      return { afterMs: outcome.afterMs, failed: false }
    case 'failed':
      return outcome.error.retry === 'never'
        ? undefined
        : { afterMs: Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures), failed: true }
  }
}
