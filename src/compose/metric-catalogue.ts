import { DOOR_METRICS } from '../adapters/http/door-metrics.ts'
import { CLIENT_METRICS } from '../adapters/kubernetes/client-metrics.ts'
import { PROVIDER_SERVER_METRICS } from '../adapters/provider-server/provider-server-metrics.ts'
import { FLOW_METRICS } from '../flow/flow-metrics.ts'
import { QUEUE_METRICS } from '../flow/queue-metrics.ts'
import { SWEEP_METRICS } from '../flow/sweep/sweep-metrics.ts'
import type { MetricDefinition } from '../ports/metrics.ts'
import { LOCK_METRICS } from '../reconcilers/lock-metrics.ts'
import { NODE_METRICS } from '../reconcilers/node/node-metrics.ts'
import { PROVIDER_METRICS } from '../reconcilers/provider-metrics.ts'
import { SERVICE_METRICS } from '../reconcilers/service/service-metrics.ts'

const SERVING_METRICS = {
  certificateExpiry: {
    name: 'serving_certificate_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the certificate that is served with expires, in seconds since the epoch; absent behind an ingress that ends TLS.',
    labels: [],
  },
  codeCacheRejected: {
    name: 'code_cache_rejected',
    type: 'gauge',
    help: 'Whether the code that was compiled when the function was bundled was refused (1), so that it was compiled anew at the start; absent where there is none.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>

export const CERTIFICATE_EXPIRY = SERVING_METRICS.certificateExpiry.name
export const CODE_CACHE_REJECTED = SERVING_METRICS.codeCacheRejected.name

/** Every metric of the function. docs/metrics.md says the same and what to do; a test compares the two. */
export const METRIC_CATALOGUE: readonly MetricDefinition[] = [
  FLOW_METRICS,
  QUEUE_METRICS,
  DOOR_METRICS,
  SWEEP_METRICS,
  LOCK_METRICS,
  PROVIDER_METRICS,
  CLIENT_METRICS,
  SERVING_METRICS,
  SERVICE_METRICS,
  NODE_METRICS,
].flatMap((group): MetricDefinition[] => Object.values(group))

/** Every metric of a provider that is served alone; in docs/metrics.md too. */
export const PROVIDER_SERVER_CATALOGUE: readonly MetricDefinition[] = [
  ...Object.values(PROVIDER_SERVER_METRICS),
  SERVING_METRICS.certificateExpiry,
]
