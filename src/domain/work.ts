import type { KubernetesObject } from './kubernetes-object.ts'

/** work.karmada.io/v1alpha1 Work: where it lies and its labels say from which cluster an old slice came. */
export type Work = KubernetesObject
