import { DOOR_METRICS } from '../adapters/http/door-metrics.ts'
import type { Kind } from '../domain/kinds.ts'
import { FLOW_METRICS } from '../flow/flow-metrics.ts'
import { SWEEP_METRICS } from '../flow/sweep/sweep-metrics.ts'
import type { Metrics } from '../ports/metrics.ts'

/** The increase of a counter that appears with its first fault is not seen: what alerts ask for is there from the start. */
export function startAtZero(metrics: Metrics, controllers: readonly Kind[]): void {
  for (const controller of controllers) {
    for (const result of ['success', 'requeue_after', 'error']) {
      metrics.count(FLOW_METRICS.reconciles.name, { controller, result }, 0)
    }
    metrics.count(FLOW_METRICS.reconcileErrors.name, { controller }, 0)
    metrics.count(FLOW_METRICS.terminalErrors.name, { controller }, 0)
    metrics.count(FLOW_METRICS.failures.name, { controller, code: 'Internal' }, 0)
    metrics.count(FLOW_METRICS.foundBySweep.name, { controller }, 0)
  }
  for (const result of ['queueFull', 'queueUnreachable']) {
    metrics.count(DOOR_METRICS.reviews.name, { door: 'notify', result }, 0)
  }
  for (const door of ['/admission/mutate', '/admission/validate', '/admission/notify', '/events', '/sweep']) {
    metrics.count(DOOR_METRICS.requests.name, { door, status: '500' }, 0)
  }
  for (const result of ['found', 'removed']) metrics.count(SWEEP_METRICS.orphans.name, { result }, 0)
}
