import { hasFinalizer, otherProvidersFinalizer } from '../finalizers.ts'
import { isBeingDeleted } from '../kubernetes-object.ts'
import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import { type MultiClusterService, wantsLoadBalancer } from '../multi-cluster-service.ts'
import type { Ownership } from '../ownership.ts'
import { referencedServices } from '../referenced-services.ts'

/** An object of the Service's namespace that may need its endpoints, and whose it is. */
export interface ExportCandidate {
  object: MultiClusterIngress | MultiClusterService
  ownership: Ownership
}

/**
 * Who needs the endpoints of a Service on the control plane.
 *
 * | an object that refers to it | claim |
 * |---|---|
 * | ours, or held by us while nobody can say whose it is | ours: export it |
 * | held by another provider's finalizer, in deletion too | another's: change nothing, it may be theirs |
 * | being deleted, of another class, unclaimed | none: remove what is ours |
 */
export type ExportClaim = 'ours' | 'another' | 'none'

export function exportClaim(
  service: { namespace: string; name: string },
  candidates: readonly ExportCandidate[],
  finalizer: string,
): ExportClaim {
  const claims = candidates
    .filter(({ object }) => refersTo(object, service))
    .map((candidate) => claimOf(candidate, finalizer))
  return claims.find((claim) => claim === 'ours') ?? claims.find((claim) => claim === 'another') ?? 'none'
}

function claimOf({ object, ownership }: ExportCandidate, finalizer: string): ExportClaim {
  const held = hasFinalizer(object, finalizer)
  const other = otherProvidersFinalizer(object, finalizer) !== undefined
  const needs = !isBeingDeleted(object) && wantsEndpoints(object)
  if (needs && ownership.kind === 'ours' && (held || !other)) return 'ours'
  if (needs && ownership.kind === 'unresolved' && held) return 'ours'
  return other ? 'another' : 'none'
}

function refersTo(
  object: MultiClusterIngress | MultiClusterService,
  { namespace, name }: { namespace: string; name: string },
): boolean {
  if (object.metadata.namespace !== namespace) return false
  if (object.kind !== 'MultiClusterService') return referencedServices(object as MultiClusterIngress).includes(name)
  return object.metadata.name === name
}

function wantsEndpoints(object: MultiClusterIngress | MultiClusterService): boolean {
  return object.kind !== 'MultiClusterService' || wantsLoadBalancer(object as MultiClusterService)
}
