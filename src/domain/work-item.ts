import { type Cause, mergeCauses } from './cause.ts'
import type { Operation } from './cluster-event.ts'
import { isSameKey, type ObjectKey } from './object-key.ts'

/** A key to reconcile, and what is worth waiting for before it is read. No hints: reconcile at once. */
export interface WorkItem {
  key: ObjectKey
  hints: Hint[]
  /** The events that asked for it, the earliest first; absent when none did. */
  causes?: Cause[]
}

/**
 * How a change that was announced can be recognised once it is stored.
 *
 * | operation | visible when |
 * |---|---|
 * | CREATE | the object exists |
 * | UPDATE | its resourceVersion is not `oldResourceVersion`; at once without one |
 * | DELETE | 404, or a deletionTimestamp, or another uid than `uid` |
 */
export interface Hint {
  /** The object that changes; not always the one to reconcile. */
  object: ObjectKey
  operation: Operation
  uid?: string
  oldResourceVersion?: string
  /**
   * Milliseconds since the epoch after which whatever exists is reconciled. Absent for what was sent after the commit:
   * then a change that cannot be seen did not happen.
   */
  waitUntil?: number
}

/** Two items of one key as one: no hint is lost, none is kept twice, and "at once" stays "at once". */
export function mergeItems(a: WorkItem, b: WorkItem): WorkItem {
  const hints = mergeHints(explicitHints(a), explicitHints(b))
  return { key: a.key, hints, ...causedBy(mergeCauses(a.causes ?? [], b.causes ?? [])) }
}

/** One is added to many: a burst of events about one key, each merged into what was merged before. */
function mergeHints(known: readonly Hint[], added: readonly Hint[]): Hint[] {
  const hints = [...known]
  for (const hint of added) {
    const index = hints.findIndex((one) => isSameChange(one, hint))
    const same = hints[index]
    if (same === undefined) hints.push(hint)
    else if (isLater(hint, same)) hints[index] = hint
  }
  return hints
}

/** The field of an item, left out when it would say nothing. */
export function causedBy(causes: Cause[] | undefined): Pick<WorkItem, 'causes'> {
  return causes === undefined || causes.length === 0 ? {} : { causes }
}

/** "At once" as a hint of its own, so that it survives beside hints that wait. */
function explicitHints({ key, hints }: WorkItem): Hint[] {
  return hints.length > 0 ? hints : [{ object: key, operation: 'UPDATE' }]
}

function isSameChange(a: Hint, b: Hint): boolean {
  return (
    a.oldResourceVersion === b.oldResourceVersion &&
    a.uid === b.uid &&
    a.operation === b.operation &&
    isSameKey(a.object, b.object)
  )
}

/** Of two sightings of one change the one that is waited for longer covers both. */
function isLater(hint: Hint, known: Hint): boolean {
  return (hint.waitUntil ?? 0) > (known.waitUntil ?? 0)
}
