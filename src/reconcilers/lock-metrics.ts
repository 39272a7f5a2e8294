import type { MetricDefinition } from '../ports/metrics.ts'

/** Of the lock of an object: a Lease, or nothing but this process's own memory. */
export const LOCK_METRICS = {
  acquisitions: {
    name: 'lock_acquisitions_total',
    type: 'counter',
    help: 'Attempts to lock an object, by result: acquired, held (another worker is at it and will look once more), failed.',
    labels: ['result'],
  },
  wait: {
    name: 'lock_wait_seconds',
    type: 'histogram',
    help: 'Time of one attempt to lock an object.',
    labels: ['result'],
  },
  lost: {
    name: 'lock_lost_total',
    type: 'counter',
    help: 'Locks that were lost while the work went on.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>
