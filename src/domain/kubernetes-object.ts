export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue }

/** Object metadata as the API serves it: timestamps are RFC 3339 strings, absent fields are absent. */
export interface ObjectMeta {
  name: string
  namespace?: string
  generateName?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  finalizers?: string[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** Any Kubernetes object. Values read from the API are treated as read-only. */
export interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

/** Deletion was asked for and is waiting for finalizers. */
export function isBeingDeleted(object: KubernetesObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}
