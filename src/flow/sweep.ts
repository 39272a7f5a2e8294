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
import type { ObjectList } from '../ports/cluster-store.ts'
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
 * Lists every object and reconciles it: what no event told is found here. Stops when the signal aborts and says where to
 * go on, after the last object that was begun: however short the time, each call gets on. What was given up half done is
 * in the queue. Throws when a list fails.
 */
export async function sweep(
  request: SweepRequest,
  flow: Flow,
  settings: SweepSettings,
  signal: AbortSignal,
): Promise<SweepReport> {
  const report = emptyReport(request.scope)
  const kinds = SCOPE_PLANS[request.scope].kinds.filter((kind) => flow.reconcilers[kind] !== undefined)
  const start = parseSweepToken(request.continue, kinds.length + 1) ?? { kindIndex: 0, startedAt: flow.clock.now() }
  const progress: Progress = { report, position: start, isThrough: false }
  try {
    await goOn(progress, kinds, flow, settings, signal)
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return progress.isThrough ? report : { ...report, continue: formatSweepToken(progress.position) }
}

interface Progress {
  report: SweepReport
  position: SweepPosition
  isThrough: boolean
}

async function goOn(
  progress: Progress,
  kinds: readonly SweptKind[],
  flow: Flow,
  settings: SweepSettings,
  signal: AbortSignal,
): Promise<void> {
  const { report } = progress
  const { scope } = report
  const { once, unfinished } = SCOPE_PLANS[scope]
  const isFromTheStart = isStart(progress.position)
  const shared = await readShared(kinds, flow, settings, signal)
  const kindOf = ({ kindIndex }: SweepPosition) => kinds[kindIndex]
  for (let kind = kindOf(progress.position); kind !== undefined; kind = kindOf(progress.position)) {
    const swept = kind
    const { position } = progress
    const page: ObjectList<SweptObject> = await listPage(swept, position, flow, settings, signal)
    const due = page.items.filter((object) => isDue(swept, object, scope, flow.marks))
    const around = isOverClusters(swept) ? await readNamespaces(due, flow, settings, signal) : []
    const known: Known = {
      objects: page.items.map((object) => ({ key: keyOf(swept, object), object })),
      lists: [...shared, ...around].filter((list) => list.kind !== swept || isOverClusters(swept)),
    }
    await reconcileAll(keysOf(swept, due), known, progress, flow, settings, signal)
    if (signal.aborted) return
    report.listed += page.items.length
    progress.position = nextPosition(position, page.continue)
  }
  await reconcileAll(once, {}, progress, flow, settings, signal)
  if (signal.aborted) return
  if (isFromTheStart && !unfinished) rememberHosts(kinds, shared, flow)
  if (!unfinished) await sweepOrphans(kinds, report, flow, signal)
  progress.isThrough = true
}

function isStart({ kindIndex, continue: page, after }: SweepPosition): boolean {
  return kindIndex === 0 && page === undefined && after === undefined
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

const OF_EXPORTS: ReadonlySet<Kind> = new Set(['ServiceExport', 'PropagationPolicy'])

// Below this a few single reads are cheaper than whole lists of a namespace.
const WORTH_A_LIST = 3

/** What several objects of one namespace send traffic to, in lists instead of one by one. */
async function readNamespaces(
  objects: readonly SweptObject[],
  { reader, reconcilers }: Flow,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ReadList[]> {
  const kinds = AROUND.filter((kind) => !OF_EXPORTS.has(kind) || reconcilers.ServiceExport !== undefined)
  const counts = Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '')
  const lists: ReadList[] = []
  for (const [namespace, own] of counts) {
    if (own.length < WORTH_A_LIST) continue
    for (const kind of kinds) {
      const items = await listServed(() => listAll(kind, reader, { namespace, limit, signal }))
      if (items !== undefined) lists.push({ kind, namespace, items })
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

function nextPosition({ kindIndex, startedAt }: SweepPosition, token: string | undefined): SweepPosition {
  return token === undefined ? { kindIndex: kindIndex + 1, startedAt } : { kindIndex, startedAt, continue: token }
}

/**
 * A token may expire while the page before it is worked on: then the rest is listed as it is now, or, where the API server
 * does not say how, the kind from its first page.
 */
async function listPage(
  kind: SweptKind,
  position: SweepPosition,
  { reader, logger }: Flow,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ObjectList<SweptObject>> {
  const list = (token: string | undefined): Promise<ObjectList<SweptObject>> =>
    reader.list(kind, { limit, signal, ...(token === undefined ? {} : { continue: token }) })
  const { continue: token } = position
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

/** Undefined for a kind that is not served: it has no objects, and must not keep the sweep from the others. */
async function listServed<T>(list: () => Promise<T>): Promise<T | undefined> {
  try {
    return await list()
  } catch (error) {
    if (isCatalogueError(error, 'KindNotServed')) return undefined
    throw error
  }
}

/** Until all are done or time runs out; the progress tells which was begun last. */
async function reconcileAll(
  keys: readonly ObjectKey[],
  known: Known,
  progress: Progress,
  flow: Flow,
  settings: SweepSettings,
  signal: AbortSignal,
): Promise<void> {
  const { report, position } = progress
  const reader = knownReader(flow.reader, known)
  const isWhole = !SCOPE_PLANS[report.scope].unfinished
  const isDueNow = (uid: string) => isWhole && isVerificationDue(uid, position.startedAt, settings)
  const rest = keysAfter(position.after, keys)
    .filter((key) => flow.reconcilers[key.kind] !== undefined)
    .values()
  const worker = async () => {
    for (const key of rest) {
      if (signal.aborted) return
      progress.position = { ...position, after: formatKey(key) }
      const outcome = await reconcileKey(key, flow, { reader, signal, isVerificationDue: isDueNow })
      report.outcomes[outcome.kind] += 1
      if ('acted' in outcome && outcome.acted === true) {
        flow.metrics.count(FLOW_METRICS.foundBySweep.name, { controller: key.kind })
      }
      await comeBack(key, outcome, flow)
    }
  }
  await Promise.all(Array.from({ length: settings.concurrency }, worker))
}

/** All of them when that one is not there any more: what is done twice costs reads and nothing else. */
function keysAfter(after: string | undefined, keys: readonly ObjectKey[]): readonly ObjectKey[] {
  return after === undefined ? keys : keys.slice(keys.findIndex((key) => formatKey(key) === after) + 1)
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
