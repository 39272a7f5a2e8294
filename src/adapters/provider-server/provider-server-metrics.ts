import type { MetricDefinition } from '../../ports/metrics.ts'

export const PROVIDER_SERVER_METRICS = {
  requests: {
    name: 'provider_server_requests_total',
    type: 'counter',
    help: 'Answers of the provider server, by operation and kind of problem; an empty kind is an answer of the provider.',
    labels: ['operation', 'problem'],
  },
  duration: {
    name: 'provider_server_request_duration_seconds',
    type: 'histogram',
    help: 'From a request to its answer, by operation.',
    labels: ['operation'],
  },
} as const satisfies Record<string, MetricDefinition>
