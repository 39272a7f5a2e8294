import type { Node } from '../../domain/node.ts'
import { isNetworkConditionSaid, type RoutesState } from '../../domain/nodes/network-condition.ts'
import { hasPodCidrs, type MissingRoute, planRoutes, type RoutePlan } from '../../domain/nodes/plan-routes.ts'
import type { RouteSnapshot } from './gather-routes.ts'
import type { RouteSettings } from './route-pass.ts'

export type RoutesDecision = { do: 'settled' } | { do: 'change'; plan: RoutePlan }

/** Whether anything is to be done about the routes, or to be said about them. */
export function decideRoutes({ nodes, routes }: RouteSnapshot, { clusterCidrs }: RouteSettings): RoutesDecision {
  const plan = planRoutes(nodes, routes, clusterCidrs)
  const isQuiet = plan.missing.length === 0 && plan.surplus.length === 0 && untold(plan, []).length === 0
  return isQuiet ? { do: 'settled' } : { do: 'change', plan }
}

/** Nodes whose condition does not say what became of their routes: all of them there, or not (R-RT-6). */
export function untold(
  { concerned }: RoutePlan,
  failed: readonly MissingRoute[],
): { node: Node; state: RoutesState }[] {
  const without = new Set(failed.map(({ node }) => node))
  return concerned
    .map((node) => ({ node, state: stateOf(node, without) }))
    .filter(({ node, state }) => !isNetworkConditionSaid(node, state))
}

function stateOf(node: Node, without: ReadonlySet<Node>): RoutesState {
  return hasPodCidrs(node) && !without.has(node) ? 'created' : 'missing'
}
