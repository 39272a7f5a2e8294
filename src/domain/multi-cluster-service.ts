import type { KubernetesObject } from './kubernetes-object.ts'
import type { LoadBalancerStatus } from './load-balancer-status.ts'

/** networking.karmada.io/v1alpha1 MultiClusterService. It exposes the Service of its own namespace and name. */
export interface MultiClusterService extends KubernetesObject {
  spec?: MultiClusterServiceSpec
  status?: MultiClusterServiceStatus
}

export interface MultiClusterServiceSpec {
  /** `CrossCluster` and `LoadBalancer` are known; Karmada ≤ v1.8 stored both, and unknown values, side by side. */
  types?: string[]
  ports?: { name?: string; port: number }[]
  providerClusters?: { name: string }[]
  consumerClusters?: { name: string }[]
}

export interface MultiClusterServiceStatus {
  loadBalancer?: LoadBalancerStatus
  conditions?: Condition[]
}

export interface Condition {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

/** Only this type concerns a provider; CrossCluster is Karmada's own. */
export function wantsLoadBalancer(service: MultiClusterService): boolean {
  return service.spec?.types?.includes('LoadBalancer') ?? false
}
