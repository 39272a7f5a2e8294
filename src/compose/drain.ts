import type { Flow } from '../flow/flow.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { Settings } from './load-settings.ts'

export interface DrainOptions {
  /** Hand the objects to the Go manager, or to another cloud controller manager, instead of removing their balancers. */
  keepBalancers: boolean
  /** Only say what would be let go of. */
  dryRun: boolean
  /** Told of each object. */
  report: (line: string) => void
  signal: AbortSignal
}

/** What each part of it needs. */
export interface Drain extends Settings, DrainOptions {
  store: ClusterStore
  reconcilers: Flow['reconcilers']
}
