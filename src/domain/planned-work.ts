import { mergeItems, type WorkItem } from './work-item.ts'

/** An item, and from when on it is to be worked on, in milliseconds since the epoch. */
export interface PlannedWork {
  item: WorkItem
  dueAt: number
}

/** Both as one, at the earlier of the two times: a new event cuts a backoff short, as in every Kubernetes controller. */
export function mergePlans(waiting: PlannedWork | undefined, added: PlannedWork): PlannedWork {
  if (waiting === undefined) return added
  return { item: mergeItems(waiting.item, added.item), dueAt: Math.min(waiting.dueAt, added.dueAt) }
}

export function planned(item: WorkItem, afterMs: number, now: number): PlannedWork {
  return { item, dueAt: now + finite(afterMs) }
}

const LONGEST_UNSTATED_MS = 300_000

/** What is no number of milliseconds (a provider's arithmetic gone wrong) would otherwise be a loop without a pause. */
function finite(afterMs: number): number {
  return Number.isFinite(afterMs) ? Math.max(0, afterMs) : LONGEST_UNSTATED_MS
}
