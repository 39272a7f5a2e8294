import type { Config } from '../../../src/config/config.ts'
import type { ClusterStore } from '../../../src/ports/cluster-store.ts'
import type { Lock } from '../../../src/ports/lock.ts'
import type { CloudProvider } from '../../../src/provider/cloud.ts'

/** Takes one safeguard out of the function, from outside of it: to see that the simulation would notice. */
export interface ClusterMutation {
  lock?: (lock: Lock) => Lock
  /** For one instance: both sides of what it does. */
  wrap?: (parts: ClusterSides) => ClusterSides
  config?: (config: Config) => Config
  noSweep?: boolean
}

export interface ClusterSides {
  store: ClusterStore
  cloud: CloudProvider
}
