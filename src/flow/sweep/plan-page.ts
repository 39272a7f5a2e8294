import { hasFinalizer } from '../../domain/finalizers.ts'
import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import { formatKey, keyOf, type ObjectKey } from '../../domain/object-key.ts'
import { ingressBackends } from '../../domain/referenced-services.ts'
import type { ObjectList } from '../../ports/cluster-store.ts'
import type { Known, ReadList } from '../known-reader.ts'
import { listPage } from './list-page.ts'
import { createSurroundings, type Surroundings } from './surroundings.ts'
import type { SweepPass } from './sweep-pass.ts'
import { isDue, isOverClusters, type SweptKind, type SweptObject } from './sweep-plan.ts'
import type { SweepPosition } from './sweep-token.ts'

export interface SweptEntry {
  key: ObjectKey
  /** Absent where the key is of something that may not be there. */
  object?: KubernetesObject
}

export interface PlannedPage {
  position: SweepPosition
  /** Of what follows. */
  next: SweepPosition
  kind: SweptKind
  objects: readonly SweptObject[]
  entries: readonly SweptEntry[]
  known: Known
}

/** Plans one page after the other: its objects, what comes along with them, and what is around them. */
export type PlanPage = (position: SweepPosition) => Promise<PlannedPage | undefined>

export function createPagePlanner(pass: SweepPass): PlanPage {
  const { kinds, shared, flow, held } = pass
  const surroundings = new Map<SweptKind, Surroundings>()
  const around = (kind: SweptKind): Surroundings => {
    const own = surroundings.get(kind) ?? createSurroundings(pass)
    surroundings.set(kind, own)
    return own
  }

  let ahead: { position: SweepPosition; page: Promise<ObjectList<SweptObject>> } | undefined

  /** Whether it could be listed is told to whoever takes it. */
  async function listAhead(position: SweepPosition): Promise<ObjectList<SweptObject> | undefined> {
    const kind = kinds[position.kindIndex]
    if (kind === undefined) return undefined
    const page = listPage(kind, position, pass)
    ahead = { position, page }
    return page.catch(() => undefined)
  }

  function take(kind: SweptKind, position: SweepPosition): Promise<ObjectList<SweptObject>> {
    return ahead?.position === position ? ahead.page : listPage(kind, position, pass)
  }

  /** The page at this position; undefined after the last. */
  return async (position) => {
    const kind = kinds[position.kindIndex]
    if (kind === undefined) return undefined
    const page = await take(kind, position)
    const next = nextPosition(position, page.continue)
    const after = listAhead(next)
    const following = page.continue === undefined ? Promise.resolve(undefined) : after
    if (isOverClusters(kind)) {
      for (const object of page.items) {
        if (hasFinalizer(object, flow.marks.finalizer)) held.add(object.metadata.uid ?? '')
      }
    }
    const due = page.items.filter((object) => isDueNow(kind, object, pass))
    const own = due.map((object) => ({ key: keyOf(kind, object), object }))
    const lists = isOverClusters(kind)
      ? await around(kind)({ kind, due, page, following, isFirst: position.continue === undefined })
      : []
    return {
      position,
      next,
      kind,
      objects: page.items,
      entries: [...own, ...entriesAlong(kind, own, lists, pass)],
      known: {
        objects: own,
        lists: [...(await shared), ...lists].filter((list) => list.kind !== kind || isOverClusters(kind)),
      },
    }
  }
}

/** No page has brought along what is of the first kind. */
function isDueNow(kind: SweptKind, object: SweptObject, { kinds, report, flow, planned }: SweepPass): boolean {
  if (!isDue(kind, object, report.scope, flow.marks)) return false
  return kind === kinds[0] || !planned.has(formatKey(keyOf(kind, object)))
}

interface OwnEntry {
  key: ObjectKey
  object: SweptObject
}

/** Services of the same namespaces, and the exports that are needed; one that nobody needs comes with its own kind. */
function entriesAlong(
  kind: SweptKind,
  own: readonly OwnEntry[],
  lists: readonly ReadList[],
  pass: SweepPass,
): SweptEntry[] {
  const { flow, planned } = pass
  const services = servicesAlong(kind, lists, pass).map((object) => ({
    key: keyOf('MultiClusterService', object),
    object,
  }))
  for (const { key } of services) planned.add(formatKey(key))
  if (flow.reconcilers.ServiceExport === undefined) return services
  return [...services, ...exportsAlong([...own, ...services], planned)]
}

/** Many objects of a namespace send traffic to the same Services. */
function exportsAlong(entries: readonly OwnEntry[], planned: Set<string>): SweptEntry[] {
  const exports: SweptEntry[] = []
  const seen = new Map<string, Set<string>>()
  for (const { key, object } of entries) {
    const { namespace } = key
    const own = seen.get(namespace) ?? new Set()
    seen.set(namespace, own)
    for (const name of exportsOf(key, object)) {
      if (name === undefined || own.has(name)) continue
      own.add(name)
      const needed = { kind: 'ServiceExport', namespace, name } as const
      const text = formatKey(needed)
      if (planned.has(text)) continue
      planned.add(text)
      exports.push({ key: needed })
    }
  }
  return exports
}

/** They come with the ingresses of their namespace, for which they were read. */
function servicesAlong(
  kind: SweptKind,
  lists: readonly ReadList[],
  { report, flow, planned }: SweepPass,
): MultiClusterService[] {
  if (kind !== 'MultiClusterIngress') return []
  const services = lists.flatMap((list) => (list.kind === 'MultiClusterService' ? list.items : []))
  return (services as MultiClusterService[]).filter(
    (service) =>
      isDue('MultiClusterService', service, report.scope, flow.marks) &&
      !planned.has(formatKey(keyOf('MultiClusterService', service))),
  )
}

/** In no order, and some more than once. */
function exportsOf({ kind }: ObjectKey, object: SweptObject): (string | undefined)[] {
  if (kind === 'MultiClusterIngress') {
    return ingressBackends(object as MultiClusterIngress).map(({ service }) => service?.name || undefined)
  }
  return kind === 'MultiClusterService' ? [object.metadata.name] : []
}

function nextPosition({ kindIndex, startedAt }: SweepPosition, token: string | undefined): SweepPosition {
  return token === undefined ? { kindIndex: kindIndex + 1, startedAt } : { kindIndex, startedAt, continue: token }
}
