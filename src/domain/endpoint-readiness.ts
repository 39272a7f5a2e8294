import type { EndpointConditions } from './endpoint-slice.ts'

export interface Readiness {
  ready: boolean
  serving: boolean
  terminating: boolean
}

/**
 * Conditions with what their absence means (discovery/v1 types.go): unknown is ready, serving is as ready, and nothing
 * terminates unless it says so.
 */
export function readinessOf(conditions: EndpointConditions | undefined): Readiness {
  const ready = conditions?.ready ?? true
  return { ready, serving: conditions?.serving ?? ready, terminating: conditions?.terminating ?? false }
}
