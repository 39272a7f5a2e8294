import type { KubernetesObject, OwnerReference } from '../kubernetes-object.ts'
import type { Service } from '../service.ts'

/** As `metav1.NewControllerRef` makes it: the object goes with its Service. */
export function controllerReference({ metadata }: Service): OwnerReference {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    name: metadata.name,
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  }
}

/**
 * Whose an export or its policy is.
 * - `ours`: controlled by exactly this Service; the Go manager's are too, and so are adopted.
 * - `earlier`: by a Service of this name that is gone; garbage collection is about to take it.
 * - `another`: a user's, or any other controller's.
 */
export function controlOf({ metadata }: KubernetesObject, service: Service): 'ours' | 'earlier' | 'another' {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
  if (owner?.kind !== 'Service' || owner.apiVersion !== 'v1' || owner.name !== service.metadata.name) return 'another'
  return owner.uid === service.metadata.uid ? 'ours' : 'earlier'
}
