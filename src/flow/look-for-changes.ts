import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, type ObjectKey } from '../domain/object-key.ts'
import { isVisible, needsLook } from '../domain/visibility.ts'
import type { Hint, WorkItem } from '../domain/work-item.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import type { ReadObject } from './known-reader.ts'

export interface Sighting {
  /** Whether there is anything to reconcile now. */
  worthwhile: boolean
  /** Announced changes that may still be committed. */
  waiting: Hint[]
  /** What was read to find out, so that the reconciler need not read it again. */
  read: ReadObject[]
}

/**
 * Sorts the hints of an item by what a read shows.
 *
 * | the change | still expected | then |
 * |---|---|---|
 * | is visible | – | reconcile |
 * | is not | yes | wait |
 * | is not | no longer (40 s are over) | reconcile whatever exists |
 * | is not | never was (sent after the commit) | it did not happen: nothing to do |
 */
export async function lookForChanges(
  item: WorkItem,
  { reader, now, signal }: { reader: ClusterReader; now: number; signal: AbortSignal },
): Promise<Sighting> {
  const objects = new Map<string, ReadObject>()
  let worthwhile = item.hints.length === 0
  const waiting: Hint[] = []
  for (const hint of item.hints) {
    if (!needsLook(hint) || isVisible(hint, await readOnce(hint.object, objects, reader, signal))) worthwhile = true
    else if (hint.waitUntil === undefined) continue
    else if (hint.waitUntil <= now) worthwhile = true
    else waiting.push(hint)
  }
  return { worthwhile, waiting, read: [...objects.values()] }
}

async function readOnce(
  key: ObjectKey,
  objects: Map<string, ReadObject>,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const name = formatKey(key)
  const known = objects.get(name)
  if (known !== undefined) return known.object
  const object = await reader.get(key, { signal })
  objects.set(name, { key, object })
  return object
}
