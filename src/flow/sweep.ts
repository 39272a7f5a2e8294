import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { Kind } from '../domain/kinds.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { Node } from '../domain/node.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import { referencedServices } from '../domain/referenced-services.ts'
import { outcomeToRequeue } from '../domain/requeue.ts'
import type { SweepReport, SweepScope } from '../domain/sweep-report.ts'
import { isVerificationDue, type VerificationSettings } from '../domain/verification.ts'
import type { ClusterReader, ObjectList } from '../ports/cluster-store.ts'
import { listAll } from '../reconcilers/list-all.ts'
import type { Flow } from './flow.ts'
import { FLOW_METRICS } from './flow-metrics.ts'
import { type Known, knownReader, type ReadList } from './known-reader.ts'
import { reconcileKey } from './reconcile-key.ts'
import { isDue, isOverClusters, SCOPE_PLANS, type SweptKind, type SweptObject } from './sweep-plan.ts'
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
  const plan = SCOPE_PLANS[request.scope]
  const kinds = plan.kinds.filter((kind) => flow.reconcilers[kind] !== undefined)
  const shared = await readShared(kinds, flow, settings, signal)
  let position = parseSweepToken(request.continue, kinds.length + 1)
  for (let kind = kinds[position.kindIndex]; kind !== undefined; kind = kinds[position.kindIndex]) {
    const swept = kind
    const page: ObjectList<SweptObject> = await listPage(swept, position, flow, settings, signal)
    const due = page.items.filter((object) => isDue(swept, object, request.scope, flow.marks))
    const around = isOverClusters(swept) ? await readNamespaces(due, flow.reader, settings, signal) : []
    const known: Known = {
      objects: page.items.map((object) => ({ key: keyOf(swept, object), object })),
      lists: [...shared, ...around].filter((list) => list.kind !== swept || isOverClusters(swept)),
    }
    const finished = await reconcileAll(keysOf(swept, due), known, report, flow, settings, signal)
    if (!finished) return { ...report, continue: formatSweepToken(position) }
    report.listed += page.items.length
    position = nextPosition(position, page.continue)
  }
  const finished = await reconcileAll(plan.once, {}, report, flow, settings, signal)
  if (!finished) return { ...report, continue: formatSweepToken(position) }
  if (request.continue === undefined && !plan.unfinished) rememberHosts(kinds, shared, flow)
  if (!plan.unfinished) await sweepOrphans(kinds, report, flow, signal)
  return report
}

/** Every Service was seen with these nodes, or is in the queue. */
function rememberHosts(kinds: readonly SweptKind[], shared: readonly ReadList[], { hosts }: Flow): void {
  const nodes = shared.find(({ kind }) => kind === 'Node')?.items
  if (nodes !== undefined && kinds.includes('Service')) hosts?.remember(nodes as readonly Node[])
}

/** Last, when every living object was seen; a provider that cannot list has none to tell. */
async function sweepOrphans(
  kinds: readonly SweptKind[],
  report: SweepReport,
  { reader, reconcilers }: Flow,
  signal: AbortSignal,
): Promise<void> {
  for (const kind of kinds) {
    const { found = 0, removed = 0 } = (await reconcilers[kind]?.sweepOrphans?.({ reader, signal })) ?? {}
    report.orphans.found += found
    report.orphans.removed += removed
  }
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
  swept: readonly SweptKind[],
  { reader }: Flow,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ReadList[]> {
  const kinds: readonly Kind[] = [
    ...(swept.some(isOverClusters) ? (['IngressClass', 'Cluster'] as const) : []),
    ...(swept.includes('Service') ? (['Node'] as const) : []),
  ]
  return Promise.all(kinds.map(async (kind) => ({ kind, items: await listAll(kind, reader, { limit, signal }) })))
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

function nextPosition({ kindIndex }: SweepPosition, token: string | undefined): SweepPosition {
  return token === undefined ? { kindIndex: kindIndex + 1 } : { kindIndex, continue: token }
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
  const isWhole = !SCOPE_PLANS[report.scope].unfinished
  const isDueNow = (uid: string) => isWhole && isVerificationDue(uid, now, settings)
  const rest = keys.filter((key) => flow.reconcilers[key.kind] !== undefined).values()
  const worker = async () => {
    for (const key of rest) {
      if (signal.aborted) return
      const outcome = await reconcileKey(key, flow, { reader, signal, isVerificationDue: isDueNow })
      report.outcomes[outcome.kind] += 1
      if ('acted' in outcome && outcome.acted === true) {
        flow.metrics.count(FLOW_METRICS.foundBySweep.name, { controller: key.kind })
      }
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
