import type { Kind } from '../domain/kinds.ts'
import type { OurMarks } from '../domain/relevance.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Tracer } from '../ports/tracer.ts'
import type { WorkQueue } from '../ports/work-queue.ts'
import type { Reconciler } from '../reconcilers/reconciler.ts'
import type { HostMemory } from './host-memory.ts'

/** What the path from event to outcome needs of the outside. */
export interface Flow {
  reader: ClusterReader
  queue: WorkQueue
  /** A kind without one is not reconciled. */
  reconcilers: Readonly<Partial<Record<Kind, Reconciler>>>
  marks: OurMarks
  /** Where Services themselves are served. */
  hosts?: HostMemory
  clock: Clock
  /** What was asked of others is on its way when this resolves. Absent where nothing has to be sent. */
  nextTurn?: () => Promise<void>
  logger: Logger
  metrics: Metrics
  /** Absent where nobody collects traces. */
  tracer?: Tracer
}
