import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Lock } from '../../src/ports/lock.ts'
import type { MultiClusterProvider } from '../../src/provider/multicluster.ts'

/** Takes one safeguard out of the function, from outside of it: to see that the simulation would notice. */
export interface Mutation {
  lock?: (lock: Lock) => Lock
  /** For one instance: both sides of what it does. */
  wrap?: (parts: { store: ClusterStore; provider: MultiClusterProvider }) => {
    store: ClusterStore
    provider: MultiClusterProvider
  }
  noSweep?: boolean
}
