import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricDefinition, Metrics } from '../../ports/metrics.ts'

export interface PrometheusMetrics extends Metrics {
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>
}

// From a warm door (a millisecond) to a cloud that takes a minute.
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]

/**
 * Each is made when it is first told of: a process that is started for one review tells of few. A metric that was not
 * defined, or is of another type, is a fault of the caller and throws.
 */
export function createPrometheusMetrics(definitions: readonly MetricDefinition[]): PrometheusMetrics {
  const registry = new Registry()
  const counters = ofType('counter', definitions, (options) => new Counter({ ...options, registers: [registry] }))
  const gauges = ofType('gauge', definitions, (options) => unset(new Gauge({ ...options, registers: [registry] })))
  const histograms = ofType(
    'histogram',
    definitions,
    ({ buckets = BUCKETS, ...options }) => new Histogram({ ...options, buckets: [...buckets], registers: [registry] }),
  )
  return {
    count: (name, labels = {}, by = 1) => counters.metric(name).inc(labels, by),
    observe: (name, seconds, labels = {}) => histograms.metric(name).observe(labels, seconds),
    set: (name, value, labels = {}) => gauges.metric(name).set(labels, value),
    text() {
      for (const { makeAll } of [counters, gauges, histograms]) makeAll()
      return registry.metrics()
    },
  }
}

interface Options extends Pick<MetricDefinition, 'name' | 'help' | 'buckets'> {
  labelNames: string[]
}

function ofType<T>(
  type: MetricDefinition['type'],
  definitions: readonly MetricDefinition[],
  make: (options: Options) => T,
) {
  const defined = new Map(definitions.filter((each) => each.type === type).map((each) => [each.name, each]))
  const made = new Map<string, T>()
  function metric(name: string): T {
    const known = made.get(name)
    if (known !== undefined) return known
    const definition = defined.get(name)
    if (definition === undefined) throw new TypeError(`metric ${name} is not defined`)
    const { help, labels, buckets } = definition
    const created = make({ name, help, labelNames: [...labels], ...(buckets && { buckets }) })
    made.set(name, created)
    return created
  }
  return { metric, makeAll: () => defined.keys().forEach(metric) }
}

/** A gauge that nobody has set is absent: 0 would be a value, of a certificate that has expired long ago. */
function unset(gauge: Gauge): Gauge {
  gauge.remove({})
  return gauge
}
