import type { WorkItem } from '../domain/work-item.ts'

/** Takes keys to reconcile. At least once each; items of one key are merged and all their hints kept. */
export interface WorkQueue {
  /**
   * Resolves when the item is stored as safely as this queue can. Throws `QueueFull` or `Draining`; the caller's event is
   * then found by the sweep.
   */
  add(item: WorkItem, options?: { afterMs?: number }): Promise<void>
}
