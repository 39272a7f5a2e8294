import { meaningfulAnnotations } from '../../domain/annotations.ts'
import { canonicalJson } from '../../domain/canonical-json.ts'
import { hasFinalizer } from '../../domain/finalizers.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { Ownership } from '../../domain/ownership.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { BalancedKind } from './balanced-resource.ts'
import { askProvider, type BalancerPass } from './balancer-pass.ts'
import type { BalancedObject, BalancerSnapshot } from './balancer-snapshot.ts'

/** All reads of one pass, from the API server and from the provider. Undefined when the object does not exist. */
export async function gatherBalancer<K extends BalancedKind>(
  pass: BalancerPass<K>,
  reader: ClusterReader,
): Promise<BalancerSnapshot<ObjectOfKind[K]> | undefined> {
  const { key, resource, signal, finalizer, digest } = pass
  const object = await reader.get(key, { signal })
  if (object === undefined) return undefined
  const ownership = isBeingDeleted(object) ? NOT_ASKED : await resource.ownershipOf(object, reader, signal)
  const snapshot = {
    object,
    finalizer,
    ownership,
    capable: resource.calls !== undefined,
    fingerprint: digest(canonicalJson(balancerInputs(object))),
  }
  const about = { uid: object.metadata.uid ?? '', fingerprint: snapshot.fingerprint }
  const record = isProviderAsked(snapshot)
    ? await askProvider(pass, about, (calls, context) => calls.get(object, context))
    : undefined
  return { ...snapshot, record }
}

/** In deletion the finalizer alone decides: a class that is gone must not keep the object. */
const NOT_ASKED: Ownership = { kind: 'unresolved', reason: 'being deleted' }

/** What a balancer is computed from. Backends and certificates join here when they are gathered. */
function balancerInputs(object: BalancedObject) {
  return { spec: object.spec, annotations: meaningfulAnnotations(object) }
}

/** Only where the answer matters: to serve, and to tell our published status from another's before it is cleared. */
function isProviderAsked({ object, ownership, capable, finalizer }: Omit<BalancerSnapshot, 'record'>): boolean {
  if (!capable || isBeingDeleted(object)) return false
  return ownership.kind === 'ours' || (ownership.kind === 'another' && hasFinalizer(object, finalizer))
}
