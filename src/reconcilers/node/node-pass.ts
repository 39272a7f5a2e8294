import type { ObjectKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Lock } from '../../ports/lock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { EventRecorder } from '../event-recorder.ts'
import type { InstanceSource } from './instance-source.ts'

export interface NodeSettings {
  /** Leave nodes alone whose providerID is another cloud's (R-NODE-12). */
  onlyOurs: boolean
  /** Whether labels follow the cloud after initialisation too (R-NODE-9). */
  refreshLabels: boolean
  /** Scheme of our providerIDs. */
  providerName: string
}

export interface NodeDependencies {
  store: ClusterStore
  lock: Lock
  recorder: EventRecorder
  logger: Logger
  metrics: Metrics
  clock: Clock
  clusterId: string
  /** For one call to the cloud. */
  providerDeadlineMs: number
  instances: InstanceSource
}

/** One run over one node: what it may use, and until when. */
export interface NodePass extends NodeDependencies {
  settings: NodeSettings
  key: ObjectKey & { kind: 'Node' }
  /** Aborts at the deadline, and when the lock is lost. */
  signal: AbortSignal
}
