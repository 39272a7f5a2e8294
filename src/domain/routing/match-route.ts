import { compareRoutes } from './compare-routes.ts'
import type { PlannedRoute, RoutePlan } from './route-plan.ts'

/** Who answers a request: a route of a plan, the default upstream of one, or nobody (404). */
export type RouteMatch<Plan> =
  | { kind: 'route'; plan: Plan; route: PlannedRoute }
  | { kind: 'default'; plan: Plan; upstream: string }
  | { kind: 'none' }

/**
 * The reference that proxies are held against: where a request goes on an address that several objects share.
 *
 * 1. The most specific host that any object has a route for decides: the host itself, then its wildcard, then any host.
 *    There is no falling through from a host that matched to a less specific one.
 * 2. Of the routes of that host, of all objects: the exact path, else the longest prefix by path elements. Of two that
 *    are equal the plan that comes first has it.
 * 3. Else the default upstream of the first plan that has one.
 *
 * `host` as it stands in the request, with or without port; `path` without the query.
 */
export function matchRoute<Plan extends Pick<RoutePlan, 'routes' | 'defaultUpstream'>>(
  plans: readonly Plan[],
  host: string,
  path: string,
): RouteMatch<Plan> {
  const all = plans.flatMap((plan) => plan.routes.map((route) => ({ plan, route })))
  const decisive = hostsFor(host).find((candidate) => all.some(({ route }) => route.host === candidate))
  const [best] = all
    .filter(({ route }) => route.host === decisive && matchesPath(route, path))
    .sort((a, b) => compareRoutes(a.route, b.route))
  if (best !== undefined) return { kind: 'route', ...best }
  for (const plan of plans) {
    if (plan.defaultUpstream !== undefined) return { kind: 'default', plan, upstream: plan.defaultUpstream }
  }
  return { kind: 'none' }
}

/** Hosts of rules that a request's host fits, the most specific first. */
function hostsFor(host: string): string[] {
  const name = host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
  const dot = name.indexOf('.')
  return dot > 0 ? [name, `*${name.slice(dot)}`, ''] : [name, '']
}

function matchesPath({ match, path }: PlannedRoute, requested: string): boolean {
  if (match === 'Exact' || path === requested) return path === requested
  return requested.startsWith(path === '/' ? path : `${path}/`)
}
