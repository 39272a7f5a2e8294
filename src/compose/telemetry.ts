import { createPrometheusMetrics, type PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.ts'
import type { Config } from '../config/config.ts'
import { UNTRACED } from '../flow/untraced.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Tracer } from '../ports/tracer.ts'
import { METRIC_CATALOGUE } from './metric-catalogue.ts'

/** What tells people how it goes, beside the log. */
export interface Telemetry {
  metrics: PrometheusMetrics
  tracer: Tracer
  /** Sends what is not sent yet, within a few seconds. */
  close(): Promise<void>
}

/** Without an endpoint for traces nothing of OpenTelemetry is loaded. */
export async function startTelemetry(
  { telemetry, clusterId }: Config,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<Telemetry> {
  if (telemetry.traces === undefined) return measuredOnly()
  const { createOtlpTracer } = await import('../adapters/tracing/otlp-tracer.ts')
  const { tracer, close } = createOtlpTracer({ ...telemetry.traces, clusterId, clock, logger })
  return { ...measuredOnly(), tracer, close }
}

export function measuredOnly(): Telemetry {
  return { metrics: createPrometheusMetrics(METRIC_CATALOGUE), tracer: UNTRACED, close: async () => {} }
}
