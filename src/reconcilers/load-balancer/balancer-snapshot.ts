import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import type { Ownership } from '../../domain/ownership.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'

export type BalancedObject = MultiClusterIngress | MultiClusterService

/** Everything a decision is made from, read before it is made. */
export interface BalancerSnapshot<T extends BalancedObject = BalancedObject> {
  object: T
  /** Ours. */
  finalizer: string
  ownership: Ownership
  /** Whether the provider serves this kind at all. */
  capable: boolean
  /** The provider's answer; undefined also when it was not asked because the object is not to be served. */
  record: BalancerRecord | undefined
  /** Of everything the balancer is computed from, as it is now. */
  fingerprint: string
}
