import type { ObjectKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Digest } from '../../ports/digest.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ServerClock } from '../../ports/server-clock.ts'

export interface LeaseLockOptions {
  store: ClusterStore
  serverClock: ServerClock
  clock: Clock
  digest: Digest
  logger: Logger
  /** Where the Leases are. */
  namespace: string
  /** Names this installation: those who share objects share it, others do not. */
  owner: string
  /** Names this process, unlike every other that ever was. */
  instance: string
  /** In whole seconds; without renewal it is over after this time. */
  durationMs: number
  /** What others wait on top, for what clocks and answers may be late. */
  marginMs: number
  /** A holder died that was to look at this key once more: somebody else has to. Without it the sweep finds out. */
  onAbandoned?: (key: ObjectKey) => void
}
