import type { KubernetesObject } from './kubernetes-object.ts'

/**
 * cluster.karmada.io/v1alpha1 Cluster. Its conditions are left out on purpose: `Ready` says whether the control plane
 * reaches the member's API server, not whether its pods serve, and drains nothing.
 */
export interface Cluster extends KubernetesObject {
  status?: { remedyActions?: string[] }
}

/** Somebody, or a Remedy, wants no traffic in this cluster. */
export function isUnderTrafficControl(cluster: Cluster): boolean {
  return cluster.status?.remedyActions?.includes('TrafficControl') ?? false
}
