import { compareTexts } from '../compare-texts.ts'
import type { PlannedRoute } from './route-plan.ts'

/**
 * Precedence as a total order, the first that matches is the one: hosts before wildcard hosts before any host, then exact
 * paths before prefixes, then longer paths before shorter ones. What is left is the alphabet's, so that equal worlds sort
 * equally. An exact path is never shorter than a prefix that matches the same request, so this is Kubernetes' "longest
 * first, then exact".
 */
export function compareRoutes(a: PlannedRoute, b: PlannedRoute): number {
  return (
    hostRank(a.host) - hostRank(b.host) ||
    compareTexts(a.host, b.host) ||
    matchRank(a.match) - matchRank(b.match) ||
    b.path.length - a.path.length ||
    compareTexts(a.path, b.path)
  )
}

function hostRank(host: string): number {
  if (host === '') return 2
  return host.startsWith('*.') ? 1 : 0
}

function matchRank(match: PlannedRoute['match']): number {
  return match === 'Exact' ? 0 : 1
}
