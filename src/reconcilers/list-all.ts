import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { ClusterReader, ListOptions } from '../ports/cluster-store.ts'

/** Every object of a kind, page by page. */
export async function listAll<K extends Kind>(
  kind: K,
  reader: ClusterReader,
  options: Omit<ListOptions, 'continue'>,
): Promise<ObjectOfKind[K][]> {
  const items: ObjectOfKind[K][] = []
  let token: string | undefined
  do {
    const page = await reader.list(kind, token === undefined ? options : { ...options, continue: token })
    items.push(...page.items)
    token = page.continue
  } while (token !== undefined)
  return items
}
