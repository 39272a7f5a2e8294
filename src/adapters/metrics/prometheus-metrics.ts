import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricDefinition, Metrics } from '../../ports/metrics.ts'

export interface PrometheusMetrics extends Metrics {
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>
}

// From a warm door (a millisecond) to a cloud that takes a minute.
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60]

/** A metric that was not defined, or is of another type, is a fault of the caller and throws. */
export function createPrometheusMetrics(definitions: readonly MetricDefinition[]): PrometheusMetrics {
  const registry = new Registry()
  const counters = new Map<string, Counter>()
  const gauges = new Map<string, Gauge>()
  const histograms = new Map<string, Histogram>()
  for (const { name, type, help, labels, buckets = BUCKETS } of definitions) {
    const options = { name, help, labelNames: [...labels], registers: [registry] }
    if (type === 'counter') counters.set(name, new Counter(options))
    else if (type === 'gauge') gauges.set(name, unset(new Gauge(options)))
    else histograms.set(name, new Histogram({ ...options, buckets: [...buckets] }))
  }
  return {
    count: (name, labels = {}, by = 1) => defined(counters, name).inc(labels, by),
    observe: (name, seconds, labels = {}) => defined(histograms, name).observe(labels, seconds),
    set: (name, value, labels = {}) => defined(gauges, name).set(labels, value),
    text: () => registry.metrics(),
  }
}

/** A gauge that nobody has set is absent: 0 would be a value, of a certificate that has expired long ago. */
function unset(gauge: Gauge): Gauge {
  gauge.remove({})
  return gauge
}

function defined<T>(metrics: ReadonlyMap<string, T>, name: string): T {
  const metric = metrics.get(name)
  if (metric === undefined) throw new TypeError(`metric ${name} is not defined`)
  return metric
}
