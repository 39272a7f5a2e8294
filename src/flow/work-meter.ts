import type { Kind } from '../domain/kinds.ts'
import type { Clock } from '../ports/clock.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { WorkHandler } from '../ports/work-queue.ts'
import { FLOW_METRICS } from './flow-metrics.ts'
import { QUEUE_METRICS } from './queue-metrics.ts'

/** Watches the workers of this process, whatever brings them their work. */
export interface WorkMeter {
  /** The same handler, measured. */
  measured(handle: WorkHandler): WorkHandler
  /** Sets the gauges to what is under way now; to be asked before they are read. */
  tell(): void
}

export interface WorkMeterOptions {
  /** The kind of queue, as the label has it. */
  queue: string
  controllers: readonly Kind[]
  /** Passes at one time at most. */
  concurrency: number
  clock: Clock
  metrics: Metrics
}

export function createWorkMeter({ queue, controllers, concurrency, clock, metrics }: WorkMeterOptions): WorkMeter {
  const labels = { name: queue }
  const running = new Set<{ controller: Kind; since: number }>()
  for (const controller of controllers) {
    metrics.set(FLOW_METRICS.maxConcurrentReconciles.name, concurrency, { controller })
  }
  return {
    measured: (handle) => async (item, signal) => {
      const run = { controller: item.key.kind, since: clock.now() }
      running.add(run)
      try {
        return await handle(item, signal)
      } finally {
        running.delete(run)
        metrics.observe(QUEUE_METRICS.workDuration.name, (clock.now() - run.since) / 1_000, labels)
      }
    },
    tell() {
      const now = clock.now()
      const ages = [...running].map(({ since }) => (now - since) / 1_000)
      const sum = ages.reduce((total, age) => total + age, 0)
      metrics.set(QUEUE_METRICS.unfinishedWork.name, sum, labels)
      metrics.set(QUEUE_METRICS.longestRunning.name, Math.max(0, ...ages), labels)
      for (const controller of controllers) {
        const active = [...running].filter((run) => run.controller === controller).length
        metrics.set(FLOW_METRICS.activeWorkers.name, active, { controller })
      }
    },
  }
}
