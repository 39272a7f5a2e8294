import type { CloudProvider } from './cloud.ts'
import type { MultiClusterProvider } from './multicluster.ts'

/**
 * What a factory makes: balancers over clusters on a Karmada control plane, a cloud under one Kubernetes cluster, or
 * both. Which of them runs is said by `controlPlane` in the configuration: one function serves one API server.
 */
export interface Provider extends MultiClusterProvider {
  readonly cloudProvider?: CloudProvider
  /**
   * For a provider that keeps something beside it, such as files of a proxy: makes that what it recorded. Called by
   * whoever serves it, before the first call, and again until it succeeds. Calls must not depend on it.
   */
  start?(): Promise<void>
}
