import { isBackends } from '../domain/nodes/node-keys.ts'
import { formatKey, isSameKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { WorkResult } from '../domain/requeue.ts'
import type { TraceContext } from '../domain/trace-context.ts'
import { causedBy, type Hint, type WorkItem } from '../domain/work-item.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import type { SpanAttributes } from '../ports/tracer.ts'
import { listAll } from '../reconcilers/list-all.ts'
import { dependentsOf } from './dependents-of.ts'
import type { Flow } from './flow.ts'
import { FLOW_METRICS } from './flow-metrics.ts'
import { knownReader } from './known-reader.ts'
import { lookForChanges } from './look-for-changes.ts'
import { failedToReconcile, reconcileKey } from './reconcile-key.ts'
import { UNTRACED } from './untraced.ts'

/**
 * One pass over one item, as a span of the trace that asked for it: wait for what was announced, queue what depends on it,
 * reconcile what is there. `caller` brought it, should no event have asked for it. Never throws.
 */
export function workOn(item: WorkItem, flow: Flow, signal: AbortSignal, caller?: TraceContext): Promise<WorkResult> {
  const { tracer = UNTRACED } = flow
  const [parent = caller, ...links] = (item.causes ?? []).flatMap(({ trace }) => trace ?? [])
  const attributes = { key: formatKey(item.key), events: item.causes?.length ?? 0 }
  const span = { name: `work ${item.key.kind}`, kind: 'consumer', attributes, parent, links } as const
  return tracer.begin(span, async (started) => {
    const result = await pass(item, flow, signal)
    started.set(describe(result.outcome))
    if (result.outcome.kind === 'failed') started.fail(result.outcome.error.code)
    measure(item, result.outcome, flow)
    return result
  })
}

function describe(outcome: Outcome): SpanAttributes {
  return { outcome: outcome.kind, ...('reason' in outcome ? { reason: outcome.reason } : {}) }
}

/** What had to be changed and is changed now. */
function measure({ key, causes }: WorkItem, outcome: Outcome, { clock, metrics }: Flow): void {
  const [earliest] = causes ?? []
  if (earliest === undefined || !('acted' in outcome)) return
  const seconds = Math.max(0, clock.now() - earliest.at) / 1_000
  metrics.observe(FLOW_METRICS.eventToStatus.name, seconds, { controller: key.kind })
}

async function pass(item: WorkItem, flow: Flow, signal: AbortSignal): Promise<WorkResult> {
  const { reader, clock } = flow
  try {
    const sighting = await lookForChanges(item, { reader, now: clock.now(), signal })
    if (!sighting.worthwhile) return { outcome: notYet(sighting.waiting), waiting: sighting.waiting }
    const known = knownReader(reader, { objects: sighting.read })
    await queueDependents(item, flow, known, signal)
    const asked = { reader: known, signal, formerUids: formerUids(item) }
    const outcome = await reconcileKey(item.key, flow, asked)
    return { outcome, waiting: sighting.waiting }
  } catch (error) {
    return { outcome: failedToReconcile(item.key, error, flow), waiting: item.hints }
  }
}

/** Of the key's own object, as events named it; whether it is gone is seen when it is read. */
function formerUids({ key, hints }: WorkItem): string[] {
  const own = hints.filter(({ object }) => isSameKey(object, key))
  return [...new Set(own.flatMap(({ uid }) => uid ?? []))]
}

/** Throws when the queue cannot take them: then the key itself is tried again. */
async function queueDependents(
  item: WorkItem,
  { queue, reconcilers, hosts }: Flow,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<void> {
  // On a plain cluster only nodes have dependents, and the kinds that are balanced over clusters are not served.
  if (item.key.kind !== 'Node' && reconcilers.MultiClusterIngress === undefined) return
  const nodes = isBackends(item.key) ? await listAll('Node', reader, { limit: 500, signal }) : undefined
  const difference = nodes === undefined ? 'hosts' : (hosts?.differs(nodes) ?? 'hosts')
  if (difference === 'nothing') return
  const isOwnChange = item.hints.some(({ object }) => isSameKey(object, item.key))
  // What hangs on an object's own change are its exports.
  const changed = isOwnChange && reconcilers.ServiceExport !== undefined
  for (const dependent of await dependentsOf(item.key, changed, reader, signal, difference)) {
    const { key, afterMs } = dependent
    const hints: Hint[] = dependent.changed ? [{ object: key, operation: 'UPDATE' }] : []
    await queue.add({ key, hints, ...causedBy(item.causes) }, { afterMs })
  }
  if (nodes !== undefined) hosts?.remember(nodes)
}

function notYet(waiting: readonly Hint[]): Outcome {
  const reason = waiting.length > 0 ? 'the announced change is not visible yet' : 'the announced change did not happen'
  return { kind: 'ignored', reason }
}
