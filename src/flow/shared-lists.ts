import { canonicalJson } from '../domain/canonical-json.ts'
import type { Kind } from '../domain/kinds.ts'
import type { ClusterReader, ListOptions } from '../ports/cluster-store.ts'

interface Running {
  list: Promise<unknown>
  /** For all who asked while it ran. */
  next: Promise<unknown> | undefined
}

/**
 * Lists of these kinds, one request for all who ask at one time. What is answered was asked for after the caller asked:
 * whoever comes while a list is on its way gets the one after it, together with the others who wait. So two hundred
 * Services whose nodes changed list five hundred nodes a few times, not four hundred, and none works with an older set.
 */
export function sharedLists<R extends ClusterReader>(reader: R, kinds: readonly Kind[]): R {
  const running = new Map<string, Running>()

  function begin(name: string, list: () => Promise<unknown>): Promise<unknown> {
    const mine: Running = { list: list(), next: undefined }
    running.set(name, mine)
    const done = () => {
      if (running.get(name) === mine && mine.next === undefined) running.delete(name)
    }
    mine.list.then(done, done)
    return mine.list
  }

  function join(name: string, list: () => Promise<unknown>): Promise<unknown> {
    const current = running.get(name)
    if (current === undefined) return begin(name, list)
    current.next ??= current.list.then(
      () => begin(name, list),
      () => begin(name, list),
    )
    return current.next
  }

  const shared: ClusterReader['list'] = (kind, options) =>
    kinds.includes(kind)
      ? (join(identity(kind, options), () => reader.list(kind, options)) as ReturnType<typeof reader.list<typeof kind>>)
      : reader.list(kind, options)
  return { ...reader, list: shared }
}

function identity(kind: Kind, { signal: _, ...options }: ListOptions): string {
  return `${kind} ${canonicalJson(options)}`
}
