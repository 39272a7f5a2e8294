import type { PlannedRoute } from '../../domain/routing/route-plan.ts'

/** Of a path that matches; what follows begins with a slash, or is nothing. */
export function matchedLength(match: PlannedRoute['match'], path: string): number {
  return match === 'Prefix' && path === '/' ? 0 : path.length
}
