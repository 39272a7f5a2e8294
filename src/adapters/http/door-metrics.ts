import type { MetricDefinition } from '../../ports/metrics.ts'

/** What the doors count and measure. Labels take only values listed here or fixed in the code, never a caller's text. */
export const DOOR_METRICS = {
  requests: {
    name: 'http_requests_total',
    type: 'counter',
    help: 'Answers by door (route) and status code.',
    labels: ['door', 'status'],
  },
  duration: {
    name: 'http_request_duration_seconds',
    type: 'histogram',
    help: 'Time from the request line to the end of the answer, by door.',
    labels: ['door'],
  },
  reviews: {
    name: 'admission_reviews_total',
    type: 'counter',
    help: 'Reviews by door and result: allowed, patched, denied, queued, ignored, unknownKind, queueFull, queueUnreachable.',
    labels: ['door', 'result'],
  },
  refusals: {
    name: 'callers_refused_total',
    type: 'counter',
    help: 'Requests refused before their body was read, by door (admission, events, sweep, metrics) and reason: missing, unknown, expired, notAllowed, unverifiable, limited.',
    labels: ['door', 'reason'],
  },
  cloudEvents: {
    name: 'cloud_events_total',
    type: 'counter',
    help: 'CloudEvents by purpose (change, work, sweep, unknown) and result: accepted, done, retry, failed, ignored.',
    labels: ['purpose', 'result'],
  },
} as const satisfies Record<string, MetricDefinition>
