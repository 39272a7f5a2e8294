import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import { keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import { outcomeToRequeue } from '../domain/requeue.ts'
import type { SweepReport, SweepScope } from '../domain/sweep-report.ts'
import { isUnfinished } from '../domain/unfinished.ts'
import type { ClusterReader, ObjectList } from '../ports/cluster-store.ts'
import type { Flow } from './flow.ts'
import { type Known, knownReader, type ReadList } from './known-reader.ts'
import { listAll } from './list-all.ts'
import { reconcileKey } from './reconcile-key.ts'
import { formatSweepToken, parseSweepToken, type SweepPosition } from './sweep-token.ts'

export interface SweepRequest {
  scope: SweepScope
  /** From an earlier report. */
  continue?: string
}

export interface SweepSettings {
  pageSize: number
  concurrency: number
}

const SWEPT_KINDS = ['MultiClusterIngress', 'MultiClusterService'] as const
type SweptKind = (typeof SWEPT_KINDS)[number]
type SweptObject = MultiClusterIngress | MultiClusterService

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
  let position: SweepPosition | undefined = parseSweepToken(request.continue, SWEPT_KINDS.length)
  while (position !== undefined) {
    const kind: SweptKind = SWEPT_KINDS[position.kindIndex] ?? SWEPT_KINDS[0]
    const page: ObjectList<SweptObject> = await listPage(kind, position, flow, settings, signal)
    const due = page.items.filter((object) => request.scope === 'all' || isUnfinished(object, flow.marks.finalizer))
    const around = await readNamespaces(due, flow.reader, settings, signal)
    const known: Known = {
      objects: page.items.map((object) => ({ key: keyOf(kind, object), object })),
      lists: [...shared, ...around],
    }
    const keys = due.map((object) => keyOf(kind, object))
    const finished = await reconcileAll(keys, known, report, flow, settings, signal)
    if (!finished) return { ...report, continue: formatSweepToken(position) }
    report.listed += page.items.length
    position = nextPosition(position, page.continue)
  }
  return report
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
    for (const kind of ['Service', 'ResourceBinding', 'EndpointSlice'] as const) {
      lists.push({ kind, namespace, items: await listAll(kind, reader, { namespace, limit, signal }) })
    }
  }
  return lists
}

function emptyReport(scope: SweepScope): SweepReport {
  return { scope, listed: 0, outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 } }
}

function nextPosition({ kindIndex }: SweepPosition, token: string | undefined): SweepPosition | undefined {
  if (token !== undefined) return { kindIndex, continue: token }
  return kindIndex + 1 < SWEPT_KINDS.length ? { kindIndex: kindIndex + 1 } : undefined
}

/** A token that expired while the page before it was worked on sends the sweep back to the first page of the kind. */
async function listPage(
  kind: SweptKind,
  position: SweepPosition,
  { reader }: Flow,
  { pageSize: limit }: SweepSettings,
  signal: AbortSignal,
): Promise<ObjectList<SweptObject>> {
  if (position.continue === undefined) return reader.list(kind, { limit, signal })
  try {
    return await reader.list(kind, { limit, signal, continue: position.continue })
  } catch (error) {
    if (isCatalogueError(error, 'ContinueExpired')) return reader.list(kind, { limit, signal })
    throw error
  }
}

/** False when time ran out before all were done. */
async function reconcileAll(
  keys: readonly ObjectKey[],
  known: Known,
  report: SweepReport,
  flow: Flow,
  { concurrency }: SweepSettings,
  signal: AbortSignal,
): Promise<boolean> {
  const reader = knownReader(flow.reader, known)
  const rest = keys.values()
  const worker = async () => {
    for (const key of rest) {
      if (signal.aborted) return
      const outcome = await reconcileKey(key, flow, { reader, signal })
      report.outcomes[outcome.kind] += 1
      await comeBack(key, outcome, flow)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
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
