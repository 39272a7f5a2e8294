import type { WorkResult } from '../domain/requeue.ts'
import type { WorkItem } from '../domain/work-item.ts'

/** Takes keys to reconcile. At least once each; items of one key are merged and all their hints kept. */
export interface WorkQueue {
  /**
   * Resolves when the item is stored as safely as this queue can. Throws `QueueFull`, `QueueUnreachable` or `Draining`,
   * and that soon; the caller's event is then found by the sweep.
   */
  add(item: WorkItem, options?: { afterMs?: number }): Promise<void>
}

/** Does one pass over one item. Never throws. */
export type WorkHandler = (item: WorkItem, signal: AbortSignal) => Promise<WorkResult>

/** A queue whose items are worked on in this process. */
export interface WorkedQueue extends WorkQueue {
  /** Resolves when it can take work for the first time; absent where it can from the start. */
  begun?: Promise<void>
  /** Begins to work; what was added before waits until then. */
  start(handler: WorkHandler): void
  /**
   * Takes nothing more, finishes what it has begun within the deadline, then aborts the rest. Answers how many keys are
   * lost with this process; the next sweep finds them. Asked again, it answers the same.
   */
  drain(deadlineMs: number): Promise<{ left: number }>
  /** Keys that this process holds now. */
  size(): number
  /** Keys that are due and not begun in this process, and since when the first of them has been. */
  waiting(): { keys: number; since?: number }
}
