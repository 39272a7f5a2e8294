/** Counters and histograms, registered beforehand by their definitions. */
export interface Metrics {
  count(name: string, labels?: Record<string, string>, by?: number): void
  /** Durations are in seconds. */
  observe(name: string, seconds: number, labels?: Record<string, string>): void
}

/** A name ending in `_total` counts; any other is a histogram of seconds. */
export interface MetricDefinition {
  name: string
  help: string
  labels: readonly string[]
}
