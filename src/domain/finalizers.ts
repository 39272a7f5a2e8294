import type { JsonPatchOperation } from './json-patch.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

/** Finalizers of providers built on this project begin so; the provider's name follows. */
export const FINALIZER_PREFIX = 'webhook-cloud-provider.dev/'

/** The Go manager has one name a kind for all providers (mci_controller.go:36, mcs_controller.go:31). */
const GO_MANAGER_FINALIZERS_BY_KIND = {
  MultiClusterIngress: 'karmada.io/multi-cluster-ingress-controller',
  MultiClusterService: 'karmada.io/multi-cluster-service-controller',
} as const

const GO_MANAGER_FINALIZERS: readonly string[] = Object.values(GO_MANAGER_FINALIZERS_BY_KIND)

export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false
}

/** The finalizer by which another provider of this family, or the Go manager, holds the object. */
export function otherProvidersFinalizer(object: KubernetesObject, ours: string): string | undefined {
  return object.metadata.finalizers?.find(
    (name) => name !== ours && (name.startsWith(FINALIZER_PREFIX) || GO_MANAGER_FINALIZERS.includes(name)),
  )
}

/** The Go manager's finalizer, as long as ours is not there yet. */
export function goManagersFinalizer(object: KubernetesObject): string | undefined {
  return object.metadata.finalizers?.find((name) => GO_MANAGER_FINALIZERS.includes(name))
}

/** The name that the Go manager would hold this object by. */
export function goManagersFinalizerFor(kind: 'MultiClusterIngress' | 'MultiClusterService'): string {
  return GO_MANAGER_FINALIZERS_BY_KIND[kind]
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

/** Puts one finalizer in the place of another in exactly this version of the object: at no moment is it without. */
export function exchangePatch(object: KubernetesObject, from: string, to: string): JsonPatchOperation[] {
  const index = object.metadata.finalizers?.indexOf(from) ?? -1
  if (index < 0) return []
  const path = `/metadata/finalizers/${index}`
  return [...sameVersion(object), { op: 'test', path, value: from }, { op: 'replace', path, value: to }]
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
