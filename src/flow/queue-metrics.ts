import type { MetricDefinition } from '../ports/metrics.ts'

/** client-go's: decades from ten nanoseconds; those below a millisecond would always be empty here. */
const QUEUE_BUCKETS = [0.001, 0.01, 0.1, 1, 10, 100, 1000]

/** client-go's names for its work queue; `name` is the kind of queue. */
export const QUEUE_METRICS = {
  depth: {
    name: 'workqueue_depth',
    type: 'gauge',
    help: 'Keys that are due and wait for a worker of this process; what waits in a broker is known to the broker.',
    labels: ['name'],
  },
  oldest: {
    name: 'workqueue_oldest_waiting_seconds',
    type: 'gauge',
    help: 'How long the first of those keys has been due; 0 when none waits.',
    labels: ['name'],
  },
  adds: { name: 'workqueue_adds_total', type: 'counter', help: 'Items added to the work queue.', labels: ['name'] },
  queueDuration: {
    name: 'workqueue_queue_duration_seconds',
    type: 'histogram',
    help: 'How long a key was due before a worker of this process took it.',
    labels: ['name'],
    buckets: QUEUE_BUCKETS,
  },
  workDuration: {
    name: 'workqueue_work_duration_seconds',
    type: 'histogram',
    help: 'How long one piece of work took.',
    labels: ['name'],
    buckets: QUEUE_BUCKETS,
  },
  unfinishedWork: {
    name: 'workqueue_unfinished_work_seconds',
    type: 'gauge',
    help: 'Seconds of work that is under way and in no duration yet; what grows without end is stuck.',
    labels: ['name'],
  },
  longestRunning: {
    name: 'workqueue_longest_running_processor_seconds',
    type: 'gauge',
    help: 'How long the longest running piece of work has been at it.',
    labels: ['name'],
  },
  retries: {
    name: 'workqueue_retries_total',
    type: 'counter',
    help: 'Keys put back after a failed pass.',
    labels: ['name'],
  },
} as const satisfies Record<string, MetricDefinition>
