import type { ClusterEvent } from '../domain/cluster-event.ts'
import { kindOf } from '../domain/kinds.ts'
import { BACKENDS_KEY, ROUTES_KEY } from '../domain/nodes/node-keys.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import { VISIBLE_WITHIN_MS } from '../domain/visibility.ts'
import type { Hint } from '../domain/work-item.ts'
import type { Flow } from './flow.ts'
import { keysForEvent } from './keys-for-event.ts'

/**
 * Queues the keys an event concerns, and answers how many. Reads nothing, reconciles nothing.
 * Throws what the queue throws: `QueueFull`, `QueueUnreachable`, `Draining`.
 */
export async function acceptEvent(
  event: ClusterEvent,
  { queue, marks }: Pick<Flow, 'queue' | 'marks'>,
): Promise<{ keys: number }> {
  const keys = keysForEvent(event, marks)
  const hints = hintsOf(event)
  const { receivedAt: at, trace } = event
  const causes = [{ at, ...(trace && { trace }) }]
  for (const key of keys) await queue.add({ key, hints, causes }, { afterMs: delayOf(key, event) })
  return { keys: keys.length }
}

// A review is answered before the commit; looking sooner is nearly always a wasted read.
const COMMIT_MS = 50
// A rollout changes many slices of one Service within moments; they are one piece of work.
const BURST_MS = 500

// Nodes join and go in groups, and what concerns them all is then one piece of work (R-RT-7).
const ALL_NODES_MS = new Map([
  [ROUTES_KEY.name, 10_000],
  [BACKENDS_KEY.name, 1_000],
])

function delayOf({ kind, name }: ObjectKey, { source }: ClusterEvent): number {
  if (kind === 'Service') return BURST_MS
  const together = kind === 'Node' ? ALL_NODES_MS.get(name) : undefined
  return together ?? (source === 'admission' ? COMMIT_MS : 0)
}

/**
 * | source | operation | hint |
 * |---|---|---|
 * | review | any | wait until the change is visible, at most 40 s |
 * | CloudEvent | DELETE | one look: an object that lives on was not deleted |
 * | CloudEvent | CREATE, UPDATE | nothing to recognise: reconcile what is there |
 */
function hintsOf(event: ClusterEvent): Hint[] {
  const kind = kindOf(event.group, event.kind)
  if (kind === undefined) return []
  const object = { kind, namespace: event.namespace, name: event.name }
  if (event.source === 'cloudevent' && event.operation !== 'DELETE') return [{ object, operation: 'UPDATE' }]
  const { uid } = (event.oldObject ?? event.object)?.metadata ?? {}
  const oldResourceVersion = event.oldObject?.metadata.resourceVersion
  return [
    {
      object,
      operation: event.operation,
      ...(uid === undefined ? {} : { uid }),
      ...(event.operation !== 'UPDATE' || oldResourceVersion === undefined ? {} : { oldResourceVersion }),
      ...(event.source === 'admission' ? { waitUntil: event.receivedAt + VISIBLE_WITHIN_MS } : {}),
    },
  ]
}
