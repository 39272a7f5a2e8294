import type { KubernetesObject } from './kubernetes-object.ts'

/** policy.karmada.io/v1alpha1 PropagationPolicy: the fields we write. Others may be there and then count as a difference. */
export interface PropagationPolicy extends KubernetesObject {
  spec?: PropagationSpec
}

/** The same for resources of any namespace, or of none. */
export interface ClusterPropagationPolicy extends KubernetesObject {
  spec?: PropagationSpec
}

export interface PropagationSpec {
  resourceSelectors?: ResourceSelector[]
  placement?: Placement
}

export interface ResourceSelector {
  apiVersion: string
  kind: string
  name?: string
  namespace?: string
}

export interface Placement {
  clusterAffinity?: { clusterNames?: string[] }
  clusterTolerations?: Toleration[]
}

export interface Toleration {
  key?: string
  operator?: string
  effect?: string
  /** Absent: for ever. */
  tolerationSeconds?: number
}
