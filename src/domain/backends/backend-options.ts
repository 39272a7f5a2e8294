import type { Cidr } from '../cidr.ts'

export interface BackendOptions {
  /** Networks that endpoints may be in; all when absent, none when empty. */
  networks?: readonly Cidr[]
  /** Serve from blocked clusters where every cluster of a Service is blocked. */
  failOpen: boolean
  /** What the provider can do. */
  supports: { resourceBackends: boolean; externalName: boolean }
}
