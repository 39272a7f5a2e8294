import type { AdmissionRequest } from '../domain/admission-request.ts'
import { addFinalizer, hasFinalizer, otherProvidersFinalizer } from '../domain/finalizers.ts'
import type { JsonPatchOperation } from '../domain/json-patch.ts'
import type { OwnershipRules } from './ownership-rules.ts'
import { isCertainlyOurs } from './ownership-rules.ts'

/**
 * The mutating review: our finalizer on objects that are certainly ours, so that the first reconcile finds it in place.
 * Nothing else, and nothing when in doubt: the reconciler claims what is missed here.
 *
 * Never on an object in deletion: a new finalizer there is refused by the API server, which would block every later
 * update, the release included. PUT may omit the timestamp from the new object, so the old one is asked (protocols §0.5).
 */
export function claimOnAdmission(request: AdmissionRequest, rules: OwnershipRules): JsonPatchOperation[] {
  const { operation, subResource, object, oldObject } = request
  if ((operation !== 'CREATE' && operation !== 'UPDATE') || subResource !== '' || object === undefined) return []
  if (object.metadata.deletionTimestamp !== undefined || oldObject?.metadata.deletionTimestamp !== undefined) return []
  if (hasFinalizer(object, rules.finalizer) || otherProvidersFinalizer(object, rules.finalizer) !== undefined) return []
  return isCertainlyOurs(request, rules) ? addFinalizer(object, rules.finalizer) : []
}
