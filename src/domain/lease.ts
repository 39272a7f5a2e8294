import type { KubernetesObject } from './kubernetes-object.ts'

/** coordination.k8s.io/v1 Lease. Go writes an absent value as null or leaves it out. */
export interface Lease extends KubernetesObject {
  spec?: {
    holderIdentity?: string | null
    leaseDurationSeconds?: number | null
    /** metav1.MicroTime: exactly six digits of a second. */
    acquireTime?: string | null
    renewTime?: string | null
    leaseTransitions?: number | null
  }
}
