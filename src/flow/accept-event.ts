import type { ClusterEvent } from '../domain/cluster-event.ts'
import { kindOf } from '../domain/kinds.ts'
import { isRelevantChange } from '../domain/relevance.ts'
import { VISIBLE_WITHIN_MS } from '../domain/visibility.ts'
import type { Hint } from '../domain/work-item.ts'
import type { Flow } from './flow.ts'
import { keysForEvent } from './keys-for-event.ts'

/**
 * Queues the keys an event concerns, and answers how many. Reads nothing, reconciles nothing.
 * Throws what the queue throws: `QueueFull`, `Draining`.
 */
export async function acceptEvent(event: ClusterEvent, { queue, marks }: Flow): Promise<{ keys: number }> {
  if (!isRelevantChange(event, marks)) return { keys: 0 }
  const keys = keysForEvent(event)
  const hints = hintsOf(event)
  for (const key of keys) await queue.add({ key, hints }, event.source === 'admission' ? { afterMs: COMMIT_MS } : {})
  return { keys: keys.length }
}

// A review is answered before the commit; looking sooner is nearly always a wasted read.
const COMMIT_MS = 50

/**
 * | source | operation | hint |
 * |---|---|---|
 * | review | any | wait until the change is visible, at most 40 s |
 * | CloudEvent | DELETE | one look: an object that lives on was not deleted |
 * | CloudEvent | CREATE, UPDATE | none: reconcile what is there |
 */
function hintsOf(event: ClusterEvent): Hint[] {
  const kind = kindOf(event.group, event.kind)
  if (kind === undefined) return []
  if (event.source === 'cloudevent' && event.operation !== 'DELETE') return []
  const { uid } = (event.oldObject ?? event.object)?.metadata ?? {}
  const oldResourceVersion = event.oldObject?.metadata.resourceVersion
  return [
    {
      object: { kind, namespace: event.namespace, name: event.name },
      operation: event.operation,
      ...(uid === undefined ? {} : { uid }),
      ...(event.operation !== 'UPDATE' || oldResourceVersion === undefined ? {} : { oldResourceVersion }),
      ...(event.source === 'admission' ? { waitUntil: event.receivedAt + VISIBLE_WITHIN_MS } : {}),
    },
  ]
}
