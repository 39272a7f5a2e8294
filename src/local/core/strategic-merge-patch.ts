import { asRecord, cloneJson, isRecord, type JsonRecord } from './json.ts'

/** Keys of lists that are merged item by item; of several only the first counts, as for the real server. */
export type MergeKeys = Readonly<Record<string, readonly string[]>>

const METADATA_KEYS: MergeKeys = { ownerReferences: ['uid'] }
const MERGED_VALUES = new Set(['finalizers'])

/**
 * The patch kubectl sends for built-in kinds: a merge patch in which some lists are merged by key, with the
 * directives `$patch`, `$deleteFromPrimitiveList/…`, `$setElementOrder/…` and `$retainKeys`.
 */
export function strategicMergePatch(target: unknown, patch: unknown, mergeKeys: MergeKeys): unknown {
  return mergeValue(target, patch, { ...METADATA_KEYS, ...mergeKeys })
}

function mergeValue(target: unknown, patch: unknown, keys: MergeKeys): unknown {
  return isRecord(patch) ? mergeRecord(asRecord(target), patch, keys) : cloneJson(patch)
}

function mergeRecord(target: JsonRecord, patch: JsonRecord, keys: MergeKeys): JsonRecord {
  const { $patch: directive, $retainKeys: retained, ...fields } = patch
  if (directive === 'replace') return cloneJson(fields)
  if (directive === 'delete') return {}
  const result: JsonRecord = { ...target }
  for (const [name, value] of Object.entries(fields)) {
    const listName = name.slice(name.indexOf('/') + 1)
    if (name.startsWith('$deleteFromPrimitiveList/')) result[listName] = without(result[listName], value)
    else if (name.startsWith('$setElementOrder/') || name === '__proto__') continue
    else if (value === null) delete result[name]
    else if (Array.isArray(value)) result[name] = mergeList(result[name], value, name, keys)
    else result[name] = mergeValue(result[name], value, keys)
  }
  for (const [name, order] of Object.entries(fields)) {
    const listName = name.slice(name.indexOf('/') + 1)
    if (name.startsWith('$setElementOrder/')) result[listName] = inOrder(result[listName], order, keys[listName]?.[0])
  }
  if (!Array.isArray(retained)) return result
  return Object.fromEntries(Object.entries(result).filter(([name]) => retained.includes(name)))
}

function mergeList(target: unknown, patch: unknown[], name: string, keys: MergeKeys): unknown[] {
  const current = Array.isArray(target) ? target : []
  if (MERGED_VALUES.has(name)) return [...current, ...patch.filter((value) => !current.includes(value))]
  const replaces = patch.some((item) => isRecord(item) && item['$patch'] === 'replace')
  // `ports` is a list by `port` in a Service and by `containerPort` in a container; without its key nothing is merged.
  const key = keys[name]?.find((candidate) => patch.every((item) => isRecord(item) && candidate in item))
  if (replaces || key === undefined) {
    return cloneJson(patch.filter((item) => !isRecord(item) || item['$patch'] === undefined))
  }
  const items = patch.filter(isRecord)
  const placeOf = (item: unknown) =>
    current.findIndex((old) => isRecord(old) && isRecord(item) && old[key] === item[key])
  const patched = items
    .filter((item) => item['$patch'] !== 'delete')
    .map((item) => ({ place: placeOf(item), value: mergeRecord(asRecord(current[placeOf(item)]), item, keys) }))
  const named = new Set(items.map(placeOf))
  const untouched = current.map((value, place) => ({ place, value })).filter(({ place }) => !named.has(place))
  return interleave(patched, untouched)
}

/** Each side in its own order; between them the old place decides, and what is new comes first. */
function interleave(patched: Placed[], untouched: Placed[]): unknown[] {
  const result: unknown[] = []
  let next = 0
  for (const { place, value } of patched) {
    for (let rest = untouched[next]; rest !== undefined && rest.place < place; rest = untouched[next]) {
      result.push(rest.value)
      next += 1
    }
    result.push(value)
  }
  return [...result, ...untouched.slice(next).map(({ value }) => value)]
}

interface Placed {
  /** In the list as it was; -1 for what is new. */
  place: number
  value: unknown
}

function without(list: unknown, removed: unknown): unknown {
  return Array.isArray(list) && Array.isArray(removed) ? list.filter((item) => !removed.includes(item)) : list
}

/** Listed items in the wanted order; the others keep their place after them. */
function inOrder(list: unknown, order: unknown, key: string | undefined): unknown {
  if (!Array.isArray(list) || !Array.isArray(order)) return list
  const identity = (item: unknown) => (key !== undefined && isRecord(item) ? item[key] : item)
  const wanted = order.map(identity)
  const rank = (item: unknown) => {
    const index = wanted.indexOf(identity(item))
    return index < 0 ? wanted.length : index
  }
  return [...list].sort((left, right) => rank(left) - rank(right))
}
