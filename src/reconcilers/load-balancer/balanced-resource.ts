import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { Ownership } from '../../domain/ownership.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { BalancerCalls } from './balancer-calls.ts'

export type BalancedKind = 'MultiClusterIngress' | 'MultiClusterService'

/** What differs between the kinds that are balanced. */
export interface BalancedResource<K extends BalancedKind> {
  kind: K
  /** Undefined when the provider does not serve this kind. */
  calls: BalancerCalls<ObjectOfKind[K]> | undefined
  /** Reads what is needed to say whose the object is. Throws when the API could not be asked. */
  ownershipOf(object: ObjectOfKind[K], reader: ClusterReader, signal: AbortSignal): Promise<Ownership>
}
