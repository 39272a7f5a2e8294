import { meaningfulAnnotations } from '../annotations.ts'
import { sameJson } from '../canonical-json.ts'
import { isBeingDeleted } from '../kubernetes-object.ts'
import { isReady, type Node } from '../node.ts'
import { changesBackends } from '../service-balancer/backend-nodes.ts'

/** Whether an update can mean work for any of us. A kubelet's heartbeat cannot. */
export function changesNode(before: Node, after: Node): boolean {
  return !sameJson(concern(before), concern(after)) || changesRoutes(before, after) || changesTargets(before, after)
}

function concern(node: Node) {
  const { labels } = node.metadata
  return [labels, meaningfulAnnotations(node), node.spec, isReady(node), isBeingDeleted(node)]
}

/** R-RT-7. */
export function changesRoutes(before: Node, after: Node): boolean {
  const routed = ({ spec, status }: Node) => [spec?.podCIDRs, status?.addresses]
  return !sameJson(routed(before), routed(after))
}

/** Of any balancer: whether its hosts are reached by instance or by address is not known here. */
export function changesTargets(before: Node, after: Node): boolean {
  return changesBackends(before, after, 'address')
}

/** Of balancers whose nodes are selected by labels. */
export function changesSelection(before: Node, after: Node): boolean {
  return !sameJson(before.metadata.labels ?? {}, after.metadata.labels ?? {})
}
