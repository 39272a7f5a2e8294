import type { MetricDefinition } from '../../ports/metrics.ts'

export const SWEEP_METRICS = {
  sweeps: {
    name: 'sweeps_total',
    type: 'counter',
    help: 'Sweeps by scope and result: completed, continued (time ran out, the caller goes on), failed.',
    labels: ['scope', 'result'],
  },
  lastCompleted: {
    name: 'sweep_last_completed_timestamp_seconds',
    type: 'gauge',
    help: 'When this process last came to the end of a sweep, in seconds since the epoch.',
    labels: ['scope'],
  },
  duration: {
    name: 'sweep_duration_seconds',
    type: 'histogram',
    help: 'Time of one call of the sweep.',
    labels: ['scope'],
    buckets: [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600],
  },
  objects: {
    name: 'sweep_objects_total',
    type: 'counter',
    help: 'Objects that sweeps reconciled, by outcome: settled, gone, ignored, later, failed.',
    labels: ['scope', 'outcome'],
  },
  orphans: {
    name: 'sweep_orphans_total',
    type: 'counter',
    help: 'Balancers of objects that are gone, by result: found (still there), removed.',
    labels: ['result'],
  },
} as const satisfies Record<string, MetricDefinition>
