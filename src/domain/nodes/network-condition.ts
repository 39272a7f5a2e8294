import { conditionOf, type Node, type NodeCondition } from '../node.ts'
import { rfc3339 } from '../rfc3339.ts'

const TYPE = 'NetworkUnavailable'

/** What the routes of a node come to, in the words that schedulers and users know (R-RT-6). */
const SAYS = {
  created: { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' },
  missing: { status: 'True', reason: 'NoRouteCreated', message: 'RouteController failed to create a route' },
} as const

export type RoutesState = keyof typeof SAYS

/** Status and reason: what a network plugin said before is replaced by our word on the routes (C-123). */
export function isNetworkConditionSaid(node: Node, state: RoutesState): boolean {
  const stored = conditionOf(node, TYPE)
  return stored?.status === SAYS[state].status && stored.reason === SAYS[state].reason
}

/** The conditions of the node with ours as it should be, every other as it is. */
export function withNetworkCondition(node: Node, state: RoutesState, now: number): NodeCondition[] {
  const stored = conditionOf(node, TYPE)
  const condition: NodeCondition = {
    type: TYPE,
    ...SAYS[state],
    lastHeartbeatTime: rfc3339(now),
    lastTransitionTime:
      stored?.status === SAYS[state].status && stored.lastTransitionTime !== undefined
        ? stored.lastTransitionTime
        : rfc3339(now),
  }
  const conditions = node.status?.conditions ?? []
  return stored === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (each === stored ? condition : each))
}
