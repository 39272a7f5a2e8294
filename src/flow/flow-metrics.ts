import type { MetricDefinition } from '../ports/metrics.ts'

/** controller-runtime's buckets for a pass. */
const RECONCILE_BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

/** controller-runtime's names and results where it has them, so that dashboards made for controllers read them; then ours. */
export const FLOW_METRICS = {
  reconciles: {
    name: 'controller_runtime_reconcile_total',
    type: 'counter',
    help: 'Passes over an object, by controller (its kind) and result: success, requeue_after, error; success too where a sweep finds it settled by versions alone.',
    labels: ['controller', 'result'],
  },
  reconcileErrors: {
    name: 'controller_runtime_reconcile_errors_total',
    type: 'counter',
    help: 'Passes that failed.',
    labels: ['controller'],
  },
  terminalErrors: {
    name: 'controller_runtime_terminal_reconcile_errors_total',
    type: 'counter',
    help: 'Passes that failed for good: they are not tried again until the object changes or a sweep comes.',
    labels: ['controller'],
  },
  reconcileTime: {
    name: 'controller_runtime_reconcile_time_seconds',
    type: 'histogram',
    help: 'Time of one pass; none where a sweep finds an object settled by versions alone.',
    labels: ['controller'],
    buckets: RECONCILE_BUCKETS,
  },
  activeWorkers: {
    name: 'controller_runtime_active_workers',
    type: 'gauge',
    help: 'Passes under way, those of sweeps aside.',
    labels: ['controller'],
  },
  maxConcurrentReconciles: {
    name: 'controller_runtime_max_concurrent_reconciles',
    type: 'gauge',
    help: 'Passes at one time at most; all controllers share them.',
    labels: ['controller'],
  },
  failures: {
    name: 'reconcile_failures_total',
    type: 'counter',
    help: 'Passes that failed, by the code of the error.',
    labels: ['controller', 'code'],
  },
  eventToStatus: {
    name: 'event_to_status_seconds',
    type: 'histogram',
    help: 'From the arrival of the earliest event that asked for it until what it asked for was done and its status published, retries and coalescing included.',
    labels: ['controller'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800],
  },
  foundBySweep: {
    name: 'work_found_only_by_sweep_total',
    type: 'counter',
    help: 'Objects by controller (kind) of which a sweep changed a status, a finalizer or the cloud: what no event told of in time.',
    labels: ['controller'],
  },
} as const satisfies Record<string, MetricDefinition>
