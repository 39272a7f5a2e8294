import type { Kind } from '../../domain/kinds.ts'
import type { ObjectList } from '../../ports/cluster-store.ts'
import { listAll } from '../../reconcilers/list-all.ts'
import type { ReadList } from '../known-reader.ts'
import { comesBefore } from './comes-before.ts'
import { createKindWalk, type KindWalk } from './kind-walk.ts'
import { listServed } from './list-served.ts'
import type { SweepPass } from './sweep-pass.ts'
import type { SweptKind, SweptObject } from './sweep-plan.ts'

export interface SweptPage {
  kind: SweptKind
  /** Of its objects, those that are to be reconciled. */
  due: readonly SweptObject[]
  page: ObjectList<SweptObject>
  /** The page after it; undefined after the last, and where it could not be listed. */
  following: Promise<ObjectList<SweptObject> | undefined>
  /** Whether objects of its first namespace may have been on a page that nobody told of. */
  isFirst: boolean
}

/** Of one kind's pages, one after the other: what the objects send traffic to, in lists instead of one by one. */
export type Surroundings = (swept: SweptPage) => Promise<ReadList[]>

const AROUND = [
  'Service',
  'ResourceBinding',
  'EndpointSlice',
  'ServiceExport',
  'PropagationPolicy',
  'MultiClusterIngress',
  'MultiClusterService',
] as const
type KindAround = (typeof AROUND)[number]

const OF_EXPORTS: ReadonlySet<Kind> = new Set(['ServiceExport', 'PropagationPolicy'])

// Below this a few single reads are cheaper than whole lists of a namespace.
const WORTH_A_LIST = 3
// Below this lists of the namespaces are cheaper than pages of the whole control plane.
const WORTH_A_WALK = 4
// So much more than the list of a namespace does a page bring.
const LISTS_A_PAGE = 4

/**
 * A kind is walked through in step with the pages, all namespaces in one; where objects of ours live in few of many
 * namespaces that reads more than lists of these would, and is given up when it has: so what is read is at most a part more
 * than the better of both. Lists of a namespace that the page before has ended in are used once more, and none is asked for
 * that the page itself brought.
 */
export function createSurroundings({ flow, settings, signal }: SweepPass): Surroundings {
  const { reader, reconcilers } = flow
  const { pageSize: limit } = settings
  const kinds = AROUND.filter((kind) => !OF_EXPORTS.has(kind) || reconcilers.ServiceExport !== undefined)
  const walks = new Map<KindAround, KindWalk>()
  let before: ReadList[] = []
  let asked = 0
  /** The namespace that the page before ended in, whether or not anything of it was due. */
  let endedIn: string | undefined
  /** Until a page comes in another order, or they begin anew: from then on nothing that comes along with them is whole. */
  let isOrdered = true

  async function around(kind: KindAround, swept: SweptPage, namespaces: Namespaces): Promise<ReadList[]> {
    if (!isOrdered) return listEach(kind, namespaces, [])
    if (kind === swept.kind) return listEach(kind, namespaces, await ownLists(namespaces, swept, endedIn))
    return (await walkTo(kind, [...namespaces.keys()])) ?? listEach(kind, namespaces, [])
  }

  async function walkTo(kind: KindAround, namespaces: readonly string[]): Promise<ReadList[] | undefined> {
    if (asked < WORTH_A_WALK) return undefined
    const walk = walks.get(kind) ?? createKindWalk(kind, reader, { limit, signal })
    walks.set(kind, walk)
    return walk.to(namespaces, 1 + asked / LISTS_A_PAGE)
  }

  async function listEach(kind: KindAround, namespaces: Namespaces, known: readonly ReadList[]): Promise<ReadList[]> {
    const lists = [...namespaces].map(async ([namespace, { length }]) => {
      const read = [...known, ...before].find((list) => list.kind === kind && list.namespace === namespace)
      if (read !== undefined) return [read]
      if (length < WORTH_A_LIST) return []
      const items = await listServed(() => listAll(kind, reader, { namespace, limit, signal }))
      return items === undefined ? [] : [{ kind, namespace, items }]
    })
    return (await Promise.all(lists)).flat()
  }

  async function aroundAll(swept: SweptPage, namespaces: Namespaces): Promise<ReadList[]> {
    if (namespaces.size === 0) return []
    asked += namespaces.size
    before = (await Promise.all(kinds.map((kind) => around(kind, swept, namespaces)))).flat()
    return before
  }

  return async (swept) => {
    isOrdered &&= areInOrder(endedIn, swept.page)
    const lists = await aroundAll(swept, Map.groupBy(swept.due, namespaceOf))
    endedIn = lastNamespaceOf(swept.page) ?? endedIn
    return lists
  }
}

type Namespaces = ReadonlyMap<string, readonly SweptObject[]>

function namespaceOf({ metadata }: SweptObject): string {
  return metadata.namespace ?? ''
}

function lastNamespaceOf({ items }: ObjectList<SweptObject>): string | undefined {
  const last = items.at(-1)
  return last && namespaceOf(last)
}

/** Whether each is where the one before it is, or further on. */
function areInOrder(from: string | undefined, { items }: ObjectList<SweptObject>): boolean {
  let before = from
  return items.every((object) => {
    const namespace = namespaceOf(object)
    const isInOrder = before === undefined || !comesBefore(namespace, before)
    before = namespace
    return isInOrder
  })
}

/**
 * Lists come namespace by namespace: only the first and the last of a page may have objects elsewhere. Those of the last
 * that are on the following page, and not on the one after it, are known.
 */
async function ownLists(
  namespaces: Namespaces,
  { kind, page, following, isFirst }: SweptPage,
  endedIn: string | undefined,
): Promise<ReadList[]> {
  const items = Map.groupBy(page.items, namespaceOf)
  const last = lastNamespaceOf(page)
  const lists = [...namespaces.keys()].map((namespace) => ({ kind, namespace, items: items.get(namespace) ?? [] }))
  const rest = page.continue === undefined ? [] : await restOf(last, following)
  return lists.flatMap((list, index) => {
    const { namespace } = list
    if (index === 0 && (isFirst ? false : endedIn === undefined || endedIn === namespace)) return []
    if (namespace !== last) return [list]
    return rest === undefined ? [] : [{ ...list, items: [...list.items, ...rest] }]
  })
}

/** On the following page; undefined where it may go on after that. */
async function restOf(
  namespace: string | undefined,
  following: SweptPage['following'],
): Promise<SweptObject[] | undefined> {
  const page = await following
  if (page === undefined || !areInOrder(namespace, page)) return undefined
  const rest = page.items.filter((object) => namespaceOf(object) === namespace)
  return page.continue !== undefined && rest.length === page.items.length ? undefined : rest
}
