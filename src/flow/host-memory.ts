import { canonicalJson } from '../domain/canonical-json.ts'
import type { Node } from '../domain/node.ts'
import { type NodeTarget, triggerInput } from '../domain/service-balancer/backend-nodes.ts'

/**
 * Remembers the nodes that every Service was last told of. An event after the commit shows a node and not what it was
 * before, so that each heartbeat might be another set of hosts; this tells. Forgetting costs a look at every Service.
 */
export interface HostMemory {
  knows(nodes: readonly Node[]): boolean
  remember(nodes: readonly Node[]): void
}

export function createHostMemory(target: NodeTarget): HostMemory {
  let known: string | undefined
  const textOf = (nodes: readonly Node[]) => canonicalJson(triggerInput(nodes, target))
  return {
    knows: (nodes) => known === textOf(nodes),
    remember(nodes) {
      known = textOf(nodes)
    },
  }
}
