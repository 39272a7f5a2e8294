import type { PlannedHealthCheck } from '../routing/route-plan.ts'
import type { MultiClusterOptions } from './multi-cluster-options.ts'

/** Pods are asked where any annotation speaks of it. */
export function plannedHealthCheck(options: MultiClusterOptions): { healthCheck?: PlannedHealthCheck } {
  const { healthCheckProtocol, healthCheckPort: port, healthCheckPath: path } = options
  const { healthCheckIntervalSeconds, healthCheckTimeoutSeconds, healthyThreshold, unhealthyThreshold } = options
  const asked = [healthCheckProtocol, port, path, healthCheckIntervalSeconds, healthCheckTimeoutSeconds]
  if ([...asked, healthyThreshold, unhealthyThreshold].every((option) => option === undefined)) return {}
  const intervalSeconds = healthCheckIntervalSeconds ?? 5
  return {
    healthCheck: {
      protocol: healthCheckProtocol ?? (path === undefined ? 'tcp' : 'http'),
      path: path ?? '/',
      ...(port === undefined ? {} : { port }),
      intervalSeconds,
      timeoutSeconds: healthCheckTimeoutSeconds ?? Math.min(3, intervalSeconds),
      healthyThreshold: healthyThreshold ?? 2,
      unhealthyThreshold: unhealthyThreshold ?? 3,
    },
  }
}
