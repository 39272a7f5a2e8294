import type { KubernetesObject } from './kubernetes-object.ts'

/** core/v1 Node: what a cloud controller reads and writes of it. */
export interface Node extends KubernetesObject {
  spec?: {
    /** `<provider>://<instance>`; cannot be changed once it is set. */
    providerID?: string
    podCIDR?: string
    podCIDRs?: string[]
    taints?: Taint[]
    unschedulable?: boolean
  }
  status?: {
    addresses?: NodeAddress[]
    conditions?: NodeCondition[]
  }
}

export interface Taint {
  key: string
  value?: string
  effect: string
  timeAdded?: string
}

export interface NodeAddress {
  /** `InternalIP`, `ExternalIP`, `Hostname`, `InternalDNS`, `ExternalDNS`. */
  type: string
  address: string
}

export interface NodeCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastHeartbeatTime?: string
  lastTransitionTime?: string
}

/** The kubelet's word, or the control plane's on its silence; a node that never said anything is Unknown (R-LIFE-1). */
export function isReady(node: Node): boolean {
  return conditionOf(node, 'Ready')?.status === 'True'
}

export function conditionOf({ status }: Node, type: string): NodeCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}
