import type { MetricDefinition } from '../ports/metrics.ts'

export const PROVIDER_METRICS = {
  calls: {
    name: 'provider_calls_total',
    type: 'counter',
    help: 'Calls into the provider by method, and by the code of the error, OK without one.',
    labels: ['method', 'code'],
  },
  duration: {
    name: 'provider_call_duration_seconds',
    type: 'histogram',
    help: 'Time of one call into the provider, at most its deadline.',
    labels: ['method'],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 120],
  },
} as const satisfies Record<string, MetricDefinition>
