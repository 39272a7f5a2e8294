import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import { listAll } from '../reconcilers/list-all.ts'
import type { Drain } from './drain.ts'

/** Every object of a kind; none where the kind was uninstalled before us. */
export function listServed<K extends Kind>(
  kind: K,
  { store, signal }: Pick<Drain, 'store' | 'signal'>,
): Promise<ObjectOfKind[K][]> {
  return ifServed(listAll(kind, store, { limit: 500, signal }), [])
}

export async function ifServed<T>(request: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await request
  } catch (error) {
    if (isCatalogueError(error, 'KindNotServed')) return otherwise
    throw error
  }
}
