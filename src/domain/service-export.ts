import type { KubernetesObject } from './kubernetes-object.ts'

/** multicluster.x-k8s.io/v1alpha1 ServiceExport: it has no spec; its name is the Service's. */
export type ServiceExport = KubernetesObject
