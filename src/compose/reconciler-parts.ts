import type { Config } from '../config/config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Tracer } from '../ports/tracer.ts'
import type { Provider } from '../provider/provider.ts'

/** What reconcilers are made from. */
export interface ReconcilerParts {
  config: Config
  provider: Provider
  store: ClusterStore
  clock: Clock
  logger: Logger
  metrics?: Metrics
  tracer?: Tracer
  /** Aborts when the process is to end. */
  stop?: AbortSignal
  /** Let go of everything that we hold. */
  disowned?: boolean
}
