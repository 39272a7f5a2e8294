import { canonicalJson } from '../domain/canonical-json.ts'
import type { Node } from '../domain/node.ts'
import { type NodeTarget, triggerInput } from '../domain/service-balancer/backend-nodes.ts'

/**
 * Remembers the nodes that every Service was last told of. An event after the commit shows a node and not what it was
 * before, so that each heartbeat might be another set of hosts; this tells. Forgetting costs a look at every Service.
 */
export interface HostMemory {
  /** What differs from what was remembered; `labels` where nothing else does, and only who selects by them is concerned. */
  differs(nodes: readonly Node[]): 'nothing' | 'labels' | 'hosts'
  remember(nodes: readonly Node[]): void
}

export function createHostMemory(target: NodeTarget): HostMemory {
  let known: { hosts: string; labels: string } | undefined
  const textsOf = (nodes: readonly Node[]) => ({
    hosts: canonicalJson(triggerInput(nodes, target)),
    labels: canonicalJson(Object.fromEntries(nodes.map(({ metadata }) => [metadata.name, metadata.labels ?? {}]))),
  })
  return {
    differs(nodes) {
      const { hosts, labels } = textsOf(nodes)
      if (known?.hosts !== hosts) return 'hosts'
      return known.labels === labels ? 'nothing' : 'labels'
    },
    remember(nodes) {
      known = textsOf(nodes)
    },
  }
}
