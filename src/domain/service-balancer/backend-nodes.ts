import { sameJson } from '../canonical-json.ts'
import { isBeingDeleted } from '../kubernetes-object.ts'
import { type LabelSelector, selects } from '../label-selector.ts'
import type { Node } from '../node.ts'

const EXCLUSION_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers'
const AUTOSCALER_TAINT = 'ToBeDeletedByClusterAutoscaler'

/** How a provider reaches a node: by its instance, or by an address, whose change then is a change of the balancer. */
export type NodeTarget = 'instance' | 'address'

/**
 * The nodes that balancers send traffic to, in the order of their names (R-SVC-20). Readiness, cordons, roles, taints of
 * others and a missing providerID are no reason to leave one out: health checks tell who serves.
 */
export function backendNodes(nodes: readonly Node[], selector: LabelSelector): Node[] {
  return nodes
    .filter((node) => isBackend(node) && selects(selector, node.metadata.labels))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

function isBackend(node: Node): boolean {
  const leaves = node.spec?.taints?.some(({ key }) => key === AUTOSCALER_TAINT) ?? false
  return !isBeingDeleted(node) && !isExcluded(node) && !leaves
}

/** What Go's ParseBool takes for false; anything else that is set excludes, even what is no truth value (R-SVC-21). */
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False']

export function isExcluded({ metadata }: Node): boolean {
  const value = metadata.labels?.[EXCLUSION_LABEL]
  return value !== undefined && !FALSE.includes(value)
}

/** Whether an update of a node changes what balancers send traffic to (R-SVC-22; addresses: deviation 12). */
export function changesBackends(before: Node, after: Node, target: NodeTarget): boolean {
  return (
    before.metadata.uid !== after.metadata.uid ||
    isExcluded(before) !== isExcluded(after) ||
    before.spec?.providerID !== after.spec?.providerID ||
    (target === 'address' && !sameJson(addressesOf(before), addressesOf(after)))
  )
}

/** Of all nodes, what an event has to have changed to matter; the same as `changesBackends` of each. */
export function triggerInput(nodes: readonly Node[], target: NodeTarget): unknown {
  return nodes
    .map((node) => [
      node.metadata.name,
      node.metadata.uid ?? '',
      isExcluded(node),
      node.spec?.providerID ?? '',
      ...(target === 'address' ? [addressesOf(node)] : []),
    ])
    .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}

/** Of a set of nodes, what makes it another set (R-SVC-24). */
export function hostsInput(nodes: readonly Node[], target: NodeTarget): unknown {
  return nodes.map((node) => [
    node.metadata.name,
    node.spec?.providerID ?? '',
    ...(target === 'address' ? [addressesOf(node)] : []),
  ])
}

function addressesOf({ status }: Node) {
  return (status?.addresses ?? []).map(({ type, address }) => ({ type, address }))
}
