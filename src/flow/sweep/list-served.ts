import { isCatalogueError } from '../../domain/catalogue-error.ts'

/** Undefined for a kind that is not served: it has no objects, and must not keep the sweep from the others. */
export async function listServed<T>(list: () => Promise<T>): Promise<T | undefined> {
  try {
    return await list()
  } catch (error) {
    if (isCatalogueError(error, 'KindNotServed')) return undefined
    throw error
  }
}
