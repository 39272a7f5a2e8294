import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { ObjectList } from '../../ports/cluster-store.ts'
import { listServed } from './list-served.ts'
import type { SweepPass } from './sweep-pass.ts'
import type { SweptKind, SweptObject } from './sweep-plan.ts'
import type { SweepPosition } from './sweep-token.ts'

/**
 * A token may expire while the page before it is worked on: then the rest is listed as it is now, or, where the API server
 * does not say how, the kind from its first page.
 */
export async function listPage(
  kind: SweptKind,
  { continue: token }: SweepPosition,
  { flow: { reader, logger }, settings: { pageSize: limit }, signal }: SweepPass,
): Promise<ObjectList<SweptObject>> {
  const list = (from: string | undefined): Promise<ObjectList<SweptObject>> =>
    reader.list(kind, { limit, signal, ...(from === undefined ? {} : { continue: from }) })
  const page = await listServed(() =>
    list(token).catch((error: unknown) => {
      if (!isCatalogueError(error, 'ContinueExpired') || token === undefined) throw error
      return list(error.rest)
    }),
  )
  if (page !== undefined) return page
  logger.warn({ kind }, 'not swept: the API server does not know this kind')
  return { items: [], resourceVersion: '' }
}
