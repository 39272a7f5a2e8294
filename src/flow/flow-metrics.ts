import type { MetricDefinition } from '../ports/metrics.ts'

/** controller-runtime's names, so that dashboards made for controllers read them. */
export const FLOW_METRICS = {
  reconciles: {
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by controller (kind) and result: settled, gone, ignored, later, failed.',
    labels: ['controller', 'result'],
  },
  reconcileTime: {
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Time of one reconcile by controller (kind).',
    labels: ['controller'],
  },
  foundBySweep: {
    name: 'work_found_only_by_sweep_total',
    help: 'Objects by controller (kind) of which a sweep changed a status, a finalizer or the cloud: what no event told of in time.',
    labels: ['controller'],
  },
} as const satisfies Record<string, MetricDefinition>
