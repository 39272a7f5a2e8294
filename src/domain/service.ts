import type { KubernetesObject } from './kubernetes-object.ts'

/** core/v1 Service as a template on the control plane: the fields a balancer or an export depends on. */
export interface Service extends KubernetesObject {
  spec?: {
    type?: string
    /** `None` for a headless Service. */
    clusterIP?: string
    externalName?: string
    ports?: ServicePort[]
  }
}

export interface ServicePort {
  /** May be absent where there is one port only. */
  name?: string
  port: number
  /** TCP when absent. */
  protocol?: string
  appProtocol?: string
}
