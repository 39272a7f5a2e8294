/** One page of a list, in the order of its keys; `continue` is where the next one begins. */
export interface Page<T> {
  entries: T[]
  continue?: string
}

/**
 * A provider lists at once; a body is bounded. Pages follow the keys and not places, so what is made or removed between two
 * of them moves nothing else. Two entries of one key stay together: a page may then have more than `limit`.
 */
export function pageOf<T>(
  all: readonly T[],
  keyOf: (entry: T) => string,
  { limit, continue: after }: { limit: number; continue?: string | undefined },
): Page<T> {
  const sorted = all
    .map((entry) => ({ key: keyOf(entry), entry }))
    .filter(({ key }) => after === undefined || key > after)
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  const last = sorted[limit - 1]
  if (last === undefined) return { entries: sorted.map(({ entry }) => entry) }
  const page = sorted.filter(({ key }) => key <= last.key)
  const entries = page.map(({ entry }) => entry)
  return page.length === sorted.length ? { entries } : { entries, continue: last.key }
}
