import type { MetricDefinition } from '../../ports/metrics.ts'

/** The cloud controller manager's names, so that its dashboards read them. */
export const NODE_METRICS = {
  taintRemoval: {
    name: 'node_controller_cloud_provider_taint_removal_delay_seconds',
    type: 'histogram',
    help: 'From the creation of a node until its uninitialized taint was removed.',
    labels: [],
  },
  initialSync: {
    name: 'node_controller_initial_node_sync_delay_seconds',
    type: 'histogram',
    help: 'From the creation of a node until it was initialised, addresses included.',
    labels: [],
  },
  routeSyncs: {
    name: 'route_controller_route_sync_total',
    type: 'counter',
    help: 'Reconciles of all routes.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>
