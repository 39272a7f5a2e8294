import { type CauseData, causeData, causesOfData } from './cause.ts'
import type { JsonValue } from './kubernetes-object.ts'
import { formatKey, parseKey } from './object-key.ts'
import { causedBy, type Hint, type WorkItem } from './work-item.ts'

/** An item as it travels: `{"key": "MultiClusterIngress/shop/web", "hints": […]}`, keys as text. */
export interface WorkData {
  key: string
  hints: (Omit<Hint, 'object'> & { object: string })[]
  causes?: CauseData[]
}

export function workData({ key, hints, causes }: WorkItem): WorkData {
  return {
    key: formatKey(key),
    hints: hints.map((hint) => ({ ...hint, object: formatKey(hint.object) })),
    ...(causes && { causes: causes.map(causeData) }),
  }
}

/** The inverse, for what we wrote ourselves; undefined for anything else. */
export function workOfData(data: unknown): WorkItem | undefined {
  const { key: text, hints, causes } = isRecord(data) ? data : {}
  const key = typeof text === 'string' ? parseKey(text) : undefined
  if (key === undefined || !Array.isArray(hints)) return undefined
  const known = hints.map(hintOfData)
  return known.every((hint) => hint !== undefined)
    ? { key, hints: known, ...causedBy(causesOfData(causes)) }
    : undefined
}

function hintOfData(data: unknown): Hint | undefined {
  if (!isRecord(data)) return undefined
  const { object: text, operation, uid, oldResourceVersion, waitUntil } = data
  const object = typeof text === 'string' ? parseKey(text) : undefined
  if (object === undefined || (operation !== 'CREATE' && operation !== 'UPDATE' && operation !== 'DELETE'))
    return undefined
  return {
    object,
    operation,
    ...(typeof uid === 'string' ? { uid } : {}),
    ...(typeof oldResourceVersion === 'string' ? { oldResourceVersion } : {}),
    ...(typeof waitUntil === 'number' ? { waitUntil } : {}),
  }
}

function isRecord(value: unknown): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
