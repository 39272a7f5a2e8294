import { isCatalogueError } from '../domain/catalogue-error.ts'
import { hasFinalizer } from '../domain/finalizers.ts'
import type { Kind } from '../domain/kinds.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
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
  const { once, unfinished } = SCOPE_PLANS[report.scope]
  const isFromTheStart = isStart(progress.position)
  const shared = await readShared(kinds, flow, settings, signal)
  const pass: SweepPass = { report, kinds, shared, flow, settings, signal, planned: new Set(), held: new Set() }
  let around: ReadList[] = []
  const plan = async (position: SweepPosition) => {
    const next = await planPage(position, around, pass)
    around = next?.around ?? []
    return next
  }
  let ahead = plan(progress.position)
  for (let page = await ahead; page !== undefined; page = await ahead) {
    const after = nextPosition(page.position, page.continue)
    // Read while this page is worked on. Whoever gives up asks no more what became of it.
    ahead = plan(after)
    ahead.catch(() => {})
    await reconcileAll(page.keys, page.known, progress, flow, settings, signal)
    if (signal.aborted) return
    report.listed += page.listed
    progress.position = after
  }
  await reconcileAll(once, {}, progress, flow, settings, signal)
  if (signal.aborted) return
  if (isFromTheStart && !unfinished) rememberHosts(kinds, shared, flow)
  if (!unfinished) await sweepOrphans(pass)
  progress.isThrough = true
}

/** What is kept from page to page: names and uids, no objects but those that all need. */
interface SweepPass {
  report: SweepReport
  kinds: readonly SweptKind[]
  shared: readonly ReadList[]
  flow: Flow
  settings: SweepSettings
  signal: AbortSignal
  /** What an earlier page has brought along of kinds whose pages come later. */
  planned: Set<string>
  /** Uids of objects that hold their balancer by our finalizer. */
  held: Set<string>
}

interface PagePlan {
  position: SweepPosition
  continue: string | undefined
  listed: number
  keys: readonly ObjectKey[]
  known: Known
  around: ReadList[]
}

/** The page at this position with what is around its objects; undefined after the last. */
async function planPage(
  position: SweepPosition,
  around: readonly ReadList[],
  pass: SweepPass,
): Promise<PagePlan | undefined> {
  const { report, kinds, shared, flow, settings, signal, planned, held } = pass
  const kind = kinds[position.kindIndex]
  if (kind === undefined) return undefined
  const page: ObjectList<SweptObject> = await listPage(kind, position, flow, settings, signal)
  for (const object of isOverClusters(kind) ? page.items : []) {
    if (hasFinalizer(object, flow.marks.finalizer)) held.add(object.metadata.uid ?? '')
  }
  const due = page.items.filter(
    (object) => isDue(kind, object, report.scope, flow.marks) && !planned.has(formatKey(keyOf(kind, object))),
  )
  const lists = isOverClusters(kind) ? await readNamespaces({ kind, due, page, position }, around, pass) : []
  const keys = keysOf(kind, due, servicesOf(kind, lists, pass)).filter((key) => !planned.has(formatKey(key)))
  for (const key of keys) if (key.kind !== kind) planned.add(formatKey(key))
  return {
    position,
    continue: page.continue,
    listed: page.items.length,
    keys,
    known: {
      objects: page.items.map((object) => ({ key: keyOf(kind, object), object })),
      lists: [...shared, ...lists].filter((list) => list.kind !== kind || isOverClusters(kind)),
    },
    around: lists,
  }
}

/** They come with the ingresses of their namespace, for which they were read. */
function servicesOf(kind: SweptKind, lists: readonly ReadList[], { report, flow }: SweepPass): MultiClusterService[] {
  if (kind !== 'MultiClusterIngress') return []
  const services = lists.flatMap((list) => (list.kind === 'MultiClusterService' ? list.items : []))
  return (services as MultiClusterService[]).filter((service) =>
    isDue('MultiClusterService', service, report.scope, flow.marks),
  )
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
async function sweepOrphans({ kinds, report, flow, signal, held }: SweepPass): Promise<void> {
  const { reader, reconcilers } = flow
  const isHeld = (uid: string) => held.has(uid)
  for (const kind of kinds) {
    const { found = 0, removed = 0 } = (await reconcilers[kind]?.sweepOrphans?.({ reader, signal, isHeld })) ?? {}
    report.orphans.found += found
    report.orphans.removed += removed
  }
}

/** The objects themselves, and the exports that they need; an export that nobody needs comes with its own kind. */
function keysOf(
  kind: SweptKind,
  objects: readonly SweptObject[],
  services: readonly MultiClusterService[],
): ObjectKey[] {
  const all = [...objects.map((object) => ({ kind, object })), ...services.map(withKind)]
  const exports = all.flatMap(({ kind: of, object }) =>
    exportsOf(of, object).map((name) => ({
      kind: 'ServiceExport' as const,
      namespace: object.metadata.namespace ?? '',
      name,
    })),
  )
  const keys = [...all.map(({ kind: of, object }) => keyOf(of, object)), ...exports]
  return [...new Map(keys.map((key) => [formatKey(key), key])).values()]
}

function withKind(object: MultiClusterService): { kind: SweptKind; object: SweptObject } {
  return { kind: 'MultiClusterService', object }
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

interface SweptPage {
  kind: SweptKind
  /** Of its objects, those that are to be reconciled. */
  due: readonly SweptObject[]
  page: ObjectList<SweptObject>
  position: SweepPosition
}

/**
 * What several objects of one namespace send traffic to, in lists instead of one by one. Lists of a namespace that the
 * page before has ended in are used once more, and no list is asked for that the page itself brought.
 */
async function readNamespaces(
  swept: SweptPage,
  before: readonly ReadList[],
  { flow: { reader, reconcilers }, settings: { pageSize: limit }, signal }: SweepPass,
): Promise<ReadList[]> {
  const kinds = AROUND.filter((kind) => !OF_EXPORTS.has(kind) || reconcilers.ServiceExport !== undefined)
  const lists: ReadList[] = []
  for (const [namespace, own] of Map.groupBy(swept.due, namespaceOf)) {
    const known = before.filter((list) => list.namespace === namespace)
    if (known.length > 0) lists.push(...known)
    if (known.length > 0 || own.length < WORTH_A_LIST) continue
    const read = async (kind: (typeof AROUND)[number]) => {
      const items =
        kind === swept.kind && isWhole(namespace, swept)
          ? swept.page.items.filter((object) => namespaceOf(object) === namespace)
          : await listServed(() => listAll(kind, reader, { namespace, limit, signal }))
      return items === undefined ? [] : [{ kind, namespace, items }]
    }
    lists.push(...(await Promise.all(kinds.map(read))).flat())
  }
  return lists
}

function namespaceOf({ metadata }: SweptObject): string {
  return metadata.namespace ?? ''
}

/** Lists come namespace by namespace: only the first and the last of a page may go on elsewhere. */
function isWhole(namespace: string, { page, position }: SweptPage): boolean {
  const [first, last] = [page.items[0], page.items.at(-1)]
  const beganBefore = position.continue !== undefined && first !== undefined && namespaceOf(first) === namespace
  const goesOn = page.continue !== undefined && last !== undefined && namespaceOf(last) === namespace
  return !beganBefore && !goesOn
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
