import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import { CRD_POLICY_KEY } from '../domain/propagation/crd-propagation-desired.ts'
import { referencedServices } from '../domain/referenced-services.ts'
import { outcomeToRequeue } from '../domain/requeue.ts'
import type { ServiceExport } from '../domain/service-export.ts'
import type { SweepReport, SweepScope } from '../domain/sweep-report.ts'
import { isUnfinished } from '../domain/unfinished.ts'
import { isVerificationDue, type VerificationSettings } from '../domain/verification.ts'
import type { ClusterReader, ObjectList } from '../ports/cluster-store.ts'
import { listAll } from '../reconcilers/list-all.ts'
import type { Flow } from './flow.ts'
import { type Known, knownReader, type ReadList } from './known-reader.ts'
import { reconcileKey } from './reconcile-key.ts'
import { formatSweepToken, parseSweepToken, type SweepPosition } from './sweep-token.ts'

export interface SweepRequest {
  scope: SweepScope
  /** From an earlier report. */
  continue?: string
}

export interface SweepSettings extends VerificationSettings {
  pageSize: number
  concurrency: number
}

const SWEPT_KINDS = ['MultiClusterIngress', 'MultiClusterService', 'ServiceExport'] as const
type SweptKind = (typeof SWEPT_KINDS)[number]
type BalancedObject = MultiClusterIngress | MultiClusterService
type SweptObject = BalancedObject | ServiceExport

/**
 * Lists every object and reconciles it: what no event told is found here. Stops between two objects when the signal
 * aborts and says where to go on; a page that was begun is begun again, which costs reads and nothing else.
 * Throws when a list fails.
 */
export async function sweep(
  request: SweepRequest,
  flow: Flow,
  settings: SweepSettings,
  signal: AbortSignal,
): Promise<SweepReport> {
  const report = emptyReport(request.scope)
  const shared = await readShared(flow.reader, settings, signal)
  const kinds = SWEPT_KINDS.filter((kind) => flow.reconcilers[kind] !== undefined)
  const first = parseSweepToken(request.continue, kinds.length)
  let position: SweepPosition | undefined = first
  while (position !== undefined) {
    const kind: SweptKind = kinds[position.kindIndex] ?? SWEPT_KINDS[0]
    const page: ObjectList<SweptObject> = await listPage(kind, position, flow, settings, signal)
    const due = page.items.filter((object) => isDue(object, request.scope, flow.marks.finalizer))
    const around = await readNamespaces(due, flow.reader, settings, signal)
    const known: Known = {
      objects: page.items.map((object) => ({ key: keyOf(kind, object), object })),
      lists: [...shared, ...around],
    }
    const once = position === first && request.scope === 'all' ? SINGLE_KEYS : []
    const keys = [...once, ...keysOf(kind, due)].filter((key) => flow.reconcilers[key.kind] !== undefined)
    const finished = await reconcileAll(keys, known, report, flow, settings, signal)
    if (!finished) return { ...report, continue: formatSweepToken(position) }
    report.listed += page.items.length
    position = nextPosition(position, page.continue, kinds.length)
  }
  if (request.scope === 'all') await sweepOrphans(report, flow, signal)
  return report
}

/** Last, when every living object was seen; a provider that cannot list has none to tell. */
async function sweepOrphans(report: SweepReport, { reader, reconcilers }: Flow, signal: AbortSignal): Promise<void> {
  for (const reconciler of Object.values(reconcilers)) {
    const { found = 0, removed = 0 } = (await reconciler.sweepOrphans?.({ reader, signal })) ?? {}
    report.orphans.found += found
    report.orphans.removed += removed
  }
}

/** Objects of which there is one. */
const SINGLE_KEYS: readonly ObjectKey[] = [CRD_POLICY_KEY]

function isDue(object: SweptObject, scope: SweepScope, finalizer: string): boolean {
  return scope === 'all' || (object.kind !== 'ServiceExport' && isUnfinished(object as BalancedObject, finalizer))
}

/** The objects themselves, and the exports that they need; an export that nobody needs comes with its own kind. */
function keysOf(kind: SweptKind, objects: readonly SweptObject[]): ObjectKey[] {
  const exports = objects.flatMap((object) =>
    exportsOf(kind, object).map((name) => ({
      kind: 'ServiceExport' as const,
      namespace: object.metadata.namespace ?? '',
      name,
    })),
  )
  const keys = [...objects.map((object) => keyOf(kind, object)), ...exports]
  return [...new Map(keys.map((key) => [formatKey(key), key])).values()]
}

function exportsOf(kind: SweptKind, object: SweptObject): string[] {
  if (kind === 'MultiClusterIngress') return referencedServices(object as MultiClusterIngress)
  return kind === 'MultiClusterService' ? [object.metadata.name] : []
}

/** What every object may ask for, read once a sweep. */
async function readShared(
  reader: ClusterReader,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ReadList[]> {
  return Promise.all(
    (['IngressClass', 'Cluster'] as const).map(async (kind) => ({
      kind,
      items: await listAll(kind, reader, { limit, signal }),
    })),
  )
}

const AROUND = [
  'Service',
  'ResourceBinding',
  'EndpointSlice',
  'ServiceExport',
  'PropagationPolicy',
  'MultiClusterIngress',
  'MultiClusterService',
] as const

// Below this a few single reads are cheaper than whole lists of a namespace.
const WORTH_A_LIST = 3

/** What several objects of one namespace send traffic to, in lists instead of one by one. */
async function readNamespaces(
  objects: readonly SweptObject[],
  reader: ClusterReader,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ReadList[]> {
  const counts = Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')
  const lists: ReadList[] = []
  for (const [namespace, own] of counts) {
    if (own.length < WORTH_A_LIST) continue
    for (const kind of AROUND) {
      lists.push({ kind, namespace, items: await listAll(kind, reader, { namespace, limit, signal }) })
    }
  }
  return lists
}

function emptyReport(scope: SweepScope): SweepReport {
  return {
    scope,
    listed: 0,
    outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 },
    orphans: { found: 0, removed: 0 },
  }
}

function nextPosition(
  { kindIndex }: SweepPosition,
  token: string | undefined,
  kinds: number,
): SweepPosition | undefined {
  if (token !== undefined) return { kindIndex, continue: token }
  return kindIndex + 1 < kinds ? { kindIndex: kindIndex + 1 } : undefined
}

/**
 * A token that expired while the page before it was worked on sends the sweep back to the first page of the kind. A kind
 * that is not served has no objects, and must not keep the sweep from the others.
 */
async function listPage(
  kind: SweptKind,
  position: SweepPosition,
  { reader, logger }: Flow,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ObjectList<SweptObject>> {
  const { continue: token } = position
  try {
    return await reader.list(kind, { limit, signal, ...(token === undefined ? {} : { continue: token }) })
  } catch (error) {
    if (isCatalogueError(error, 'ContinueExpired') && token !== undefined) return reader.list(kind, { limit, signal })
    if (!isCatalogueError(error, 'KindNotServed')) throw error
    logger.warn({ kind, error: error.message }, 'not swept: the API server does not know this kind')
    return { items: [], resourceVersion: '' }
  }
}

/** False when time ran out before all were done. */
async function reconcileAll(
  keys: readonly ObjectKey[],
  known: Known,
  report: SweepReport,
  flow: Flow,
  settings: SweepSettings,
  signal: AbortSignal,
): Promise<boolean> {
  const reader = knownReader(flow.reader, known)
  const now = flow.clock.now()
  const isDueNow = (uid: string) => report.scope === 'all' && isVerificationDue(uid, now, settings)
  const rest = keys.values()
  const worker = async () => {
    for (const key of rest) {
      if (signal.aborted) return
      const outcome = await reconcileKey(key, flow, { reader, signal, isVerificationDue: isDueNow })
      report.outcomes[outcome.kind] += 1
      await comeBack(key, outcome, flow)
    }
  }
  await Promise.all(Array.from({ length: settings.concurrency }, worker))
  return !signal.aborted
}

/** What is not finished goes to the queue, to be done before the next sweep; when the queue cannot take it, that sweep does. */
async function comeBack(key: ObjectKey, outcome: Outcome, { queue, logger }: Flow): Promise<void> {
  const requeue = outcomeToRequeue(outcome, 0)
  if (requeue === undefined) return
  try {
    await queue.add({ key, hints: [] }, { afterMs: requeue.afterMs })
  } catch (error) {
    logger.info({ error: String(error) }, 'left to the next sweep')
  }
}
