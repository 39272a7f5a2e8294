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
} as const satisfies Record<string, MetricDefinition>
