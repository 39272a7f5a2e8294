import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import { momentOf } from '../../domain/moment-of.ts'
import { isReady, type Taint } from '../../domain/node.ts'
import { isMarkedShutDown, withoutShutdown, withShutdown } from '../../domain/nodes/node-taints.ts'
import type { LifecycleSnapshot } from './gather-lifecycle.ts'

export type LifecycleDecision =
  | { do: 'nothing'; reason: string }
  | { do: 'settled' }
  | { do: 'taint'; taints: Taint[] }
  /** It is gone, and too young for that to be believed. */
  | { do: 'wait'; afterMs: number }
  | { do: 'delete' }

/**
 * | Ready | instance | do |
 * |---|---|---|
 * | True | not asked | take the shutdown taint away |
 * | other, or none said | gone | delete, unless it is new |
 * | other | shut down | add the shutdown taint |
 * | other | running | nothing: who shut it down takes the taint away by being Ready (R-LIFE-7) |
 */
export function decideLifecycle(snapshot: LifecycleSnapshot): LifecycleDecision {
  const { node, instance, managed, now, newNodeGraceMs } = snapshot
  if (isBeingDeleted(node)) return { do: 'nothing', reason: 'being deleted' }
  if (!managed) return { do: 'nothing', reason: 'its providerID is another cloud’s' }
  const isMarked = isMarkedShutDown(node)
  if (isReady(node)) return isMarked ? { do: 'taint', taints: withoutShutdown(node) } : { do: 'settled' }
  if (instance === 'gone') {
    const restMs = momentOf(node.metadata.creationTimestamp) + newNodeGraceMs - now
    return restMs > 0 ? { do: 'wait', afterMs: restMs } : { do: 'delete' }
  }
  return instance === 'shutDown' && !isMarked ? { do: 'taint', taints: withShutdown(node) } : { do: 'settled' }
}
