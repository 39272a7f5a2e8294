import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { ClusterReader, ListOptions } from '../ports/cluster-store.ts'

/** Every object of a kind. */
export async function listAll<K extends Kind>(
  kind: K,
  reader: ClusterReader,
  options: Omit<ListOptions, 'continue'>,
): Promise<ObjectOfKind[K][]> {
  const items: ObjectOfKind[K][] = []
  await eachPage(kind, reader, options, (page) => void items.push(...page))
  return items
}

/** The same page by page, for what is not to be held as a whole. */
export async function eachPage<K extends Kind>(
  kind: K,
  reader: ClusterReader,
  options: Omit<ListOptions, 'continue'>,
  take: (items: readonly ObjectOfKind[K][]) => void,
): Promise<void> {
  let token: string | undefined
  do {
    const page = await reader.list(kind, token === undefined ? options : { ...options, continue: token })
    take(page.items)
    token = page.continue
  } while (token !== undefined)
}
