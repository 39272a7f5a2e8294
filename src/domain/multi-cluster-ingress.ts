import type { KubernetesObject } from './kubernetes-object.ts'
import type { LoadBalancerStatus } from './load-balancer-status.ts'

/**
 * networking.karmada.io/v1alpha1 MultiClusterIngress: the spec of a Kubernetes Ingress.
 * The CRD's schema requires nothing, so every field may be missing on a stored object.
 */
export interface MultiClusterIngress extends KubernetesObject {
  spec?: MultiClusterIngressSpec
  status?: MultiClusterIngressStatus
}

export interface MultiClusterIngressSpec {
  ingressClassName?: string
  defaultBackend?: IngressBackend
  rules?: IngressRule[]
  tls?: IngressTls[]
}

export interface IngressBackend {
  service?: { name: string; port?: { name?: string; number?: number } }
  resource?: { apiGroup?: string; kind: string; name: string }
}

export interface IngressRule {
  host?: string
  http?: { paths?: IngressPath[] }
}

export interface IngressPath {
  path?: string
  pathType?: string
  backend: IngressBackend
}

export interface IngressTls {
  hosts?: string[]
  secretName?: string
}

export interface MultiClusterIngressStatus {
  loadBalancer?: LoadBalancerStatus
  /** Clusters under TrafficControl, sorted. */
  trafficBlockClusters?: string[]
  /** Where the referenced Services run. */
  serviceLocations?: { name: string; clusters?: string[] }[]
}
