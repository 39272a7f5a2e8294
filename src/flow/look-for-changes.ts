import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import { isVisible, needsLook } from '../domain/visibility.ts'
import type { Hint, WorkItem } from '../domain/work-item.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import { listAll } from '../reconcilers/list-all.ts'
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
  const read = await readHinted(item.hints.filter(needsLook), reader, signal)
  let worthwhile = item.hints.length === 0
  const waiting: Hint[] = []
  for (const hint of item.hints) {
    if (!needsLook(hint) || isVisible(hint, read.get(formatKey(hint.object))?.object)) worthwhile = true
    else if (hint.waitUntil === undefined) continue
    else if (hint.waitUntil <= now) worthwhile = true
    else waiting.push(hint)
  }
  return { worthwhile, waiting, read: [...read.values()] }
}

// Above this, one list of the namespace is cheaper than single reads: a rollout changes many slices of one Service.
const LOOKED_UP_ONE_BY_ONE = 5

/** Each object that a hint names, once. */
async function readHinted(
  hints: readonly Hint[],
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Map<string, ReadObject>> {
  const keys = new Map(hints.map(({ object }) => [formatKey(object), object]))
  const groups = Map.groupBy(keys.values(), ({ kind, namespace }) => `${kind}/${namespace}`)
  const reads = await Promise.all([...groups.values()].map((group) => readGroup(group, reader, signal)))
  return new Map(reads.flat().map((entry) => [formatKey(entry.key), entry]))
}

async function readGroup(keys: ObjectKey[], reader: ClusterReader, signal: AbortSignal): Promise<ReadObject[]> {
  const [first] = keys
  if (first === undefined || keys.length <= LOOKED_UP_ONE_BY_ONE) {
    return Promise.all(keys.map(async (key) => ({ key, object: await reader.get(key, { signal }) })))
  }
  const { kind, namespace } = first
  const scope = namespace === '' ? {} : { namespace }
  const items: KubernetesObject[] = await listAll(kind, reader, { ...scope, limit: 500, signal })
  const found = new Map(items.map((object) => [formatKey(keyOf(kind, object)), object]))
  return keys.map((key) => ({ key, object: found.get(formatKey(key)) }))
}
