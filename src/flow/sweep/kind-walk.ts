import { isCatalogueError } from '../../domain/catalogue-error.ts'
import type { Kind } from '../../domain/kinds.ts'
import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { ReadList } from '../known-reader.ts'
import { comesBefore } from './comes-before.ts'
import { listServed } from './list-served.ts'

/** Goes through all objects of a kind, page by page, beside somebody who goes through the same namespaces. */
export interface KindWalk {
  /**
   * Whole lists of these namespaces, which come in order, and not before the first one of the last time: earlier ones are
   * forgotten. Undefined when it has given up: it would need more than so many pages in all, what it was given is in no
   * order, or its token has expired without a way to go on. A kind that is not served has no lists.
   */
  to(namespaces: readonly string[], mostPages: number): Promise<ReadList[] | undefined>
}

/**
 * The API server lists in the order of `<namespace>/<name>`, byte by byte. All pages show the moment of the first one, so
 * they tell what may have to be done; what is written is decided by fresh reads.
 */
export function createKindWalk(
  kind: Kind,
  reader: ClusterReader,
  { limit, signal }: { limit: number; signal: AbortSignal },
): KindWalk {
  const window = new Map<string, KubernetesObject[]>()
  let state: 'begins' | 'goes on' | 'ended' | 'gave up' | 'not served' = 'begins'
  let token: string | undefined
  let pages = 0
  let reached = ''

  async function readPage(first: string): Promise<void> {
    pages += 1
    const page = await listServed(() => listFrom(token))
    if (page === undefined) {
      state = 'not served'
      return
    }
    token = page.continue
    state = token === undefined ? 'ended' : 'goes on'
    for (const object of page.items as readonly KubernetesObject[]) keep(object, first)
  }

  function listFrom(from: string | undefined) {
    const list = (at: string | undefined) =>
      reader.list(kind, { limit, signal, ...(at === undefined ? {} : { continue: at }) })
    return list(from).catch((error: unknown) => {
      if (!isCatalogueError(error, 'ContinueExpired') || error.rest === undefined) throw error
      return list(error.rest)
    })
  }

  function keep(object: KubernetesObject, first: string): void {
    const { namespace = '' } = object.metadata
    if (comesBefore(namespace, reached)) state = 'gave up'
    reached = namespace
    if (comesBefore(namespace, first)) return
    const own = window.get(namespace)
    if (own === undefined) window.set(namespace, [object])
    else own.push(object)
  }

  /** Its last namespace may go on with the next page. */
  async function read(first: string, last: string, mostPages: number): Promise<void> {
    while (state === 'begins' || (state === 'goes on' && !comesBefore(last, reached))) {
      if (pages >= mostPages) state = 'gave up'
      else await readPage(first)
    }
  }

  return {
    async to(namespaces, mostPages) {
      const [first = '', last = ''] = [namespaces[0], namespaces.at(-1)]
      for (const namespace of window.keys()) if (comesBefore(namespace, first)) window.delete(namespace)
      try {
        await read(first, last, mostPages)
      } catch (error) {
        if (!isCatalogueError(error, 'ContinueExpired')) throw error
        state = 'gave up'
      }
      if (state === 'not served') return []
      if (state === 'gave up') {
        window.clear()
        return undefined
      }
      return namespaces.map((namespace) => ({ kind, namespace, items: window.get(namespace) ?? [] }))
    },
  }
}
