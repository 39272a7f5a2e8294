import type { Node, Taint } from '../node.ts'

/** By the kubelet of a cluster with an external cloud provider, until the cloud said what the node is. */
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized'
const SHUTDOWN = 'node.cloudprovider.kubernetes.io/shutdown'

const SHUTDOWN_TAINT: Taint = { key: SHUTDOWN, effect: 'NoSchedule' }

/** By the key alone: effect and value are whatever somebody gave it (C-82). */
export function isUninitialized(node: Node): boolean {
  return taintsOf(node).some(({ key }) => key === UNINITIALIZED)
}

export function isMarkedShutDown(node: Node): boolean {
  return taintsOf(node).some(isShutdownTaint)
}

/** Everybody else's taints stay (C-81). */
export function withoutUninitialized(node: Node): Taint[] {
  return taintsOf(node).filter(({ key }) => key !== UNINITIALIZED)
}

export function withShutdown(node: Node): Taint[] {
  return [...taintsOf(node), SHUTDOWN_TAINT]
}

export function withoutShutdown(node: Node): Taint[] {
  return taintsOf(node).filter((taint) => !isShutdownTaint(taint))
}

function taintsOf({ spec }: Node): readonly Taint[] {
  return spec?.taints ?? []
}

/** Key and effect: the same key with another effect is somebody else's (R-LIFE-2). */
function isShutdownTaint({ key, effect }: Taint): boolean {
  return key === SHUTDOWN && effect === SHUTDOWN_TAINT.effect
}
