import type { KubernetesObject } from './kubernetes-object.ts'

/** remedy.karmada.io/v1alpha1 Remedy (cluster scope). What follows from it is read from the clusters, never from here. */
export interface Remedy extends KubernetesObject {
  spec?: { clusterAffinity?: { clusterNames?: string[] }; actions?: string[] }
}

/** The clusters it can touch: without an affinity all of them, with an empty list none (remediation/util.go:32-38). */
export function clustersOfRemedy({ spec }: Remedy): readonly string[] | 'all' {
  return spec?.clusterAffinity === undefined ? 'all' : (spec.clusterAffinity.clusterNames ?? [])
}
