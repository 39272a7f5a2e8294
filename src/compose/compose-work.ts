import { nextTurn } from '../adapters/system/next-turn.ts'
import type { OurMarks } from '../domain/relevance.ts'
import type { WorkResult } from '../domain/requeue.ts'
import type { SweepReport } from '../domain/sweep-report.ts'
import type { TraceContext } from '../domain/trace-context.ts'
import type { WorkItem } from '../domain/work-item.ts'
import type { Flow } from '../flow/flow.ts'
import { createHostMemory } from '../flow/host-memory.ts'
import { sharedLists } from '../flow/shared-lists.ts'
import { observedSweep } from '../flow/sweep/observed-sweep.ts'
import type { SweepRequest } from '../flow/sweep/sweep.ts'
import { workOn } from '../flow/work-on.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { ServerClock } from '../ports/server-clock.ts'
import type { Tracer } from '../ports/tracer.ts'
import type { WorkQueue } from '../ports/work-queue.ts'
import { observeLock } from '../reconcilers/observe-lock.ts'
import { balancerAbilities } from './balancer-abilities.ts'
import { composeReconcilers } from './compose-reconcilers.ts'
import { createLock } from './create-lock.ts'
import type { ReconcilerParts } from './reconciler-parts.ts'
import { servedCloud } from './served-cloud.ts'
import { sweepAndTidy } from './sweep-and-tidy.ts'

export interface WorkParts extends ReconcilerParts {
  metrics: Metrics
  tracer: Tracer
  serverClock?: ServerClock
  queue: WorkQueue
  marks: OurMarks
}

/** What is done about keys, behind the doors. */
export interface Work {
  /** `caller` brought the item, should no event have asked for it. Never throws. */
  workOn(item: WorkItem, signal: AbortSignal, caller?: TraceContext): Promise<WorkResult>
  sweep(request: SweepRequest, signal: AbortSignal): Promise<SweepReport>
}

export type ComposeWork = (parts: WorkParts) => Work

export function composeWork(parts: WorkParts): Work {
  const { config, clock, metrics, queue } = parts
  const locking = createLock({ ...parts, queue })
  const store = sharedLists(parts.store, ['Node'])
  const reconcilers = composeReconcilers({ ...parts, store }, observeLock(locking.lock, { clock, metrics }))
  const flow: Flow = { ...parts, reader: store, reconcilers, nextTurn, ...hostsOf(parts) }
  return {
    workOn: (item, signal, caller) => workOn(item, flow, signal, caller),
    sweep: (request, signal) =>
      observedSweep(request, flow, () => sweepAndTidy(request, flow, config.sweep, locking, signal)),
  }
}

function hostsOf({ config, provider }: WorkParts): Pick<Flow, 'hosts'> {
  const loadBalancer = servedCloud(config, provider)?.loadBalancer()
  return loadBalancer === undefined ? {} : { hosts: createHostMemory(balancerAbilities(loadBalancer).target) }
}
