import type { Operation } from './cluster-event.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

/**
 * An AdmissionReview v1 request after the door: only what we use, wire words gone.
 * Source of the stages: a CREATE seen by a mutating webhook has no uid and perhaps no name; a DELETE has only `oldObject`,
 * and no request name when it comes from deletecollection, so `name` is then taken from the object.
 */
export interface AdmissionRequest {
  /** Of this call; echoed in the answer. */
  uid: string
  operation: Operation | 'CONNECT'
  group: string
  kind: string
  /** Empty unless a subresource such as `status` was written. */
  subResource: string
  namespace: string
  /** Empty while a generateName is not yet resolved. */
  name: string
  username: string
  dryRun: boolean
  object?: KubernetesObject
  oldObject?: KubernetesObject
}
