import type { Operation } from './cluster-event.ts'
import type { ObjectKey } from './object-key.ts'

/** A key to reconcile, and what is worth waiting for before it is read. */
export interface WorkItem {
  key: ObjectKey
  hints: Hint[]
}

/**
 * How a change that was announced can be recognised once it is stored.
 *
 * | operation | visible when |
 * |---|---|
 * | CREATE | the object exists |
 * | UPDATE | its resourceVersion is not `oldResourceVersion` |
 * | DELETE | 404, or a deletionTimestamp, or another uid than `uid` |
 */
export interface Hint {
  /** The object that changes; not always the one to reconcile. */
  object: ObjectKey
  operation: Operation
  uid?: string
  oldResourceVersion?: string
  /** Milliseconds since the epoch after which whatever exists is reconciled; absent for events sent after the commit. */
  waitUntil?: number
}
