/** One request to Caddy's admin API. */
export interface ConfigurationChange {
  method: 'PUT' | 'PATCH' | 'DELETE'
  /** Of Caddy's configuration, from its root; numbers are indexes of arrays. */
  path: string[]
  value?: unknown
}

/**
 * The one request that makes `after` out of `before`, or undefined where they are equal: a write of the smallest part that
 * has all differences in it. Valid only for the configuration that was read: indexes move.
 */
export function smallestChange(before: unknown, after: unknown): ConfigurationChange | undefined {
  return isEqual(before, after) ? undefined : changeWithin([], before, after)
}

function changeWithin(path: string[], before: unknown, after: unknown): ConfigurationChange {
  const differing = differingMembers(before, after)
  const [key] = differing
  if (differing.length !== 1 || key === undefined) return { method: 'PATCH', path, value: after }
  const below = [...path, key]
  const [was, is] = [memberOf(before, key), memberOf(after, key)]
  if (is === undefined) return { method: 'DELETE', path: below }
  if (was === undefined) return { method: 'PUT', path: below, value: is }
  return changeWithin(below, was, is)
}

/** Nothing where the two cannot be told apart by members: then the whole is to be written. */
function differingMembers(before: unknown, after: unknown): string[] {
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) return []
  // In an array of another length every index behind the difference has moved.
  if (Array.isArray(before) && Array.isArray(after) && before.length !== after.length) return []
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].filter((key) => !isEqual(memberOf(before, key), memberOf(after, key)))
}

/** Of JSON, with a look at the reference first: what was not rendered anew is the same object. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a).filter((key) => memberOf(a, key) !== undefined)
  const others = Object.keys(b).filter((key) => memberOf(b, key) !== undefined)
  return keys.length === others.length && keys.every((key) => isEqual(memberOf(a, key), memberOf(b, key)))
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function memberOf(value: unknown, key: string): unknown {
  return (value as Record<string, unknown>)[key]
}
