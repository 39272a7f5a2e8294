import { hasFinalizer } from './finalizers.ts'
import { isBeingDeleted } from './kubernetes-object.ts'
import type { MultiClusterIngress } from './multi-cluster-ingress.ts'
import { type MultiClusterService, wantsLoadBalancer } from './multi-cluster-service.ts'

/**
 * What the `pending` sweep looks at: objects that carry no sign of being served, or are leaving. Too many is harmless,
 * the reconciler decides.
 */
export function isUnfinished(object: MultiClusterIngress | MultiClusterService, finalizer: string): boolean {
  const held = hasFinalizer(object, finalizer)
  if (isBeingDeleted(object)) return held
  const isWanted = object.kind !== 'MultiClusterService' || wantsLoadBalancer(object as MultiClusterService)
  // One that is held and not wanted is to be let go.
  if (held !== isWanted) return true
  if (!held) return false
  return (object.status?.loadBalancer?.ingress ?? []).length === 0
}
