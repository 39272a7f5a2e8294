import { isBeingDeleted } from '../kubernetes-object.ts'
import { isReady, type Node } from '../node.ts'
import { isMarkedShutDown, isUninitialized } from './node-taints.ts'

/**
 * What the sweeps of short periods look at: nodes that wait to be initialised, that may be gone or shut down in the cloud,
 * or that came back.
 */
export function isUnsettledNode(node: Node): boolean {
  return !isBeingDeleted(node) && (isUninitialized(node) || !isReady(node) || isMarkedShutDown(node))
}
