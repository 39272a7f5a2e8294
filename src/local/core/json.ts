/** JSON as it comes off the wire: what is inside is not known yet. */
export type JsonRecord = Record<string, unknown>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {}
}

export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function asString(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Several times faster than `structuredClone`. A key `__proto__` is left out: it would change the prototype. */
export function cloneJson<T>(value: T): T {
  return clone(value) as T
}

function clone(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(clone)
  if (!isRecord(value)) return value
  const copy: JsonRecord = {}
  for (const key of Object.keys(value)) {
    if (key !== '__proto__') copy[key] = clone(value[key])
  }
  return copy
}

/** The order of an object's keys does not count; a key with the value `undefined` counts as absent. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false
    return left.every((item, index) => jsonEqual(item, right[index]))
  }
  if (!isRecord(left) || !isRecord(right)) return false
  for (const key of Object.keys(left)) {
    if (!jsonEqual(left[key], right[key])) return false
  }
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && left[key] === undefined) return false
  }
  return true
}

/** Stored objects are shared by every reader, so nobody may change them. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const item of Object.values(value)) deepFreeze(item)
  }
  return value
}
