import type { JsonPatchOperation } from './json-patch.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

/** Finalizers of providers built on this project begin so; the provider's name follows. */
export const FINALIZER_PREFIX = 'webhook-cloud-provider.dev/'

/** The Go manager has one name a kind for all providers (mci_controller.go:36, mcs_controller.go:31). */
const GO_MANAGER_FINALIZERS: readonly string[] = [
  'karmada.io/multi-cluster-ingress-controller',
  'karmada.io/multi-cluster-service-controller',
]

export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/** The finalizer by which another provider of this family, or the Go manager, holds the object. */
export function otherProvidersFinalizer(object: KubernetesObject, ours: string): string | undefined {
  return object.metadata.finalizers?.find(
    (name) => name !== ours && (name.startsWith(FINALIZER_PREFIX) || GO_MANAGER_FINALIZERS.includes(name)),
  )
}

/** Adds our finalizer and touches no other: for a mutating review, where the object has no version to test. */
export function addFinalizer(object: KubernetesObject, finalizer: string): JsonPatchOperation[] {
  // `/finalizers/-` on a missing or null list is an error that the API server turns into a 500.
  return Array.isArray(object.metadata.finalizers)
    ? [{ op: 'add', path: '/metadata/finalizers/-', value: finalizer }]
    : [{ op: 'add', path: '/metadata/finalizers', value: [finalizer] }]
}

/** Adds our finalizer to exactly this version of the object; of two providers that claim it the first wins. */
export function claimPatch(object: KubernetesObject, finalizer: string): JsonPatchOperation[] {
  return [...sameVersion(object), ...addFinalizer(object, finalizer)]
}

/** Removes our finalizer, and only ours, from exactly this version of the object. */
export function releasePatch(object: KubernetesObject, finalizer: string): JsonPatchOperation[] {
  const index = object.metadata.finalizers?.indexOf(finalizer) ?? -1
  if (index < 0) return []
  const path = `/metadata/finalizers/${index}`
  return [...sameVersion(object), { op: 'test', path, value: finalizer }, { op: 'remove', path }]
}

function sameVersion({ metadata }: KubernetesObject): JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid ?? null },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion ?? null },
  ]
}
