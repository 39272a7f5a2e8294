import type { MetricDefinition } from '../ports/metrics.ts'

/** client-go's names for its work queue. */
export const QUEUE_METRICS = {
  adds: { name: 'workqueue_adds_total', help: 'Items added to the work queue.', labels: [] },
  retries: { name: 'workqueue_retries_total', help: 'Keys put back after a failed reconcile.', labels: [] },
} as const satisfies Record<string, MetricDefinition>
