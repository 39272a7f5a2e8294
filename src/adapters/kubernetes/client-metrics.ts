import type { MetricDefinition } from '../../ports/metrics.ts'

/** client-go's names, labels and buckets for requests to the API server. */
export const CLIENT_METRICS = {
  requests: {
    name: 'rest_client_requests_total',
    type: 'counter',
    help: 'Requests to the API server by status code, or <error> without an answer.',
    labels: ['code', 'method', 'host'],
  },
  duration: {
    name: 'rest_client_request_duration_seconds',
    type: 'histogram',
    help: 'Time of one request to the API server, its answer included.',
    labels: ['verb', 'host'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  },
} as const satisfies Record<string, MetricDefinition>
