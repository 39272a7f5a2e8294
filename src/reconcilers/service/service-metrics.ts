import type { MetricDefinition } from '../../ports/metrics.ts'

/** Upstream's names (R-SVC-27), with the ending that counters have here. */
export const SERVICE_METRICS = {
  syncs: {
    name: 'service_controller_loadbalancer_sync_total',
    type: 'counter',
    help: 'Passes over Services that want a balancer, or have one to remove.',
    labels: [],
  },
  nodeSyncErrors: {
    name: 'service_controller_nodesync_error_total',
    type: 'counter',
    help: 'Updates of the hosts of a balancer that failed.',
    labels: [],
  },
  updateHosts: {
    name: 'service_controller_update_loadbalancer_host_latency_seconds',
    type: 'histogram',
    help: 'Time of one update of the hosts of a balancer.',
    labels: [],
  },
  nodeSync: {
    name: 'service_controller_nodesync_latency_seconds',
    type: 'histogram',
    help: 'Time of one pass over a Service whose hosts had changed.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>
