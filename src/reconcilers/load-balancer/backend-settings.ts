import type { BackendOptions } from '../../domain/backends/backend-options.ts'
import type { Cidr } from '../../domain/cidr.ts'
import type { BackendSupport } from '../../provider/multicluster.ts'

/** What the configuration says of backends. */
export interface BackendSettings {
  /** Networks that endpoints may be in; undefined allows all. */
  networks: readonly Cidr[] | undefined
  /** Serve from blocked clusters where every cluster of a Service is blocked. */
  failOpen: boolean
}

export function backendOptions({ networks, failOpen }: BackendSettings, supports: BackendSupport = {}): BackendOptions {
  const { resourceBackends = false, externalName = false } = supports
  return {
    ...(networks === undefined ? {} : { networks }),
    failOpen,
    supports: { resourceBackends, externalName },
  }
}
