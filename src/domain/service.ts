import type { KubernetesObject } from './kubernetes-object.ts'
import type { LoadBalancerStatus } from './load-balancer-status.ts'

/** core/v1 Service: the fields a balancer or an export depends on. */
export interface Service extends KubernetesObject {
  spec?: ServiceSpec
  status?: { loadBalancer?: LoadBalancerStatus }
}

export interface ServiceSpec {
  type?: string
  /** `None` for a headless Service. */
  clusterIP?: string
  externalName?: string
  externalIPs?: string[]
  ports?: ServicePort[]
  selector?: Record<string, string>
  sessionAffinity?: string
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } }
  /** Fixed while the type is LoadBalancer. */
  loadBalancerClass?: string
  loadBalancerIP?: string
  loadBalancerSourceRanges?: string[]
  allocateLoadBalancerNodePorts?: boolean
  externalTrafficPolicy?: string
  internalTrafficPolicy?: string
  /** Set by the API server when `externalTrafficPolicy` is Local; 0 or absent otherwise. */
  healthCheckNodePort?: number
  ipFamilies?: string[]
  ipFamilyPolicy?: string
}

export interface ServicePort {
  /** May be absent where there is one port only. */
  name?: string
  port: number
  /** TCP when absent. */
  protocol?: string
  appProtocol?: string
  targetPort?: number | string
  /** 0 or absent where node ports are not allocated. */
  nodePort?: number
}
