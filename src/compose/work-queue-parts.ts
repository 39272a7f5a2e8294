import type { Sink } from '../adapters/cloudevents/read-sink.ts'
import type { Config } from '../config/config.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'

export interface WorkQueueParts {
  config: Config
  /** Where work events go, for `queue.kind: cloudevents`. */
  sink?: Sink
  clock: Clock
  logger: Logger
  metrics: Metrics
  /** Of `loadJetStream`, for `queue.kind: jetstream`. */
  createJetStream?: CreateWorkQueue
}

export type CreateWorkQueue = (parts: WorkQueueParts) => WorkedQueue

/** What serves other objects, or another control plane, has work of its own. */
export function installationOf({ clusterId, provider }: Config): string {
  return `wcp-${clusterId}-${provider.name}`
}
