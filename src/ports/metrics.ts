/** What is counted and measured, registered beforehand by definitions. */
export interface Metrics {
  count(name: string, labels?: MetricLabels, by?: number): void
  /** Durations are in seconds. */
  observe(name: string, seconds: number, labels?: MetricLabels): void
  /** Of a gauge. */
  set(name: string, value: number, labels?: MetricLabels): void
}

export type MetricLabels = Readonly<Record<string, string>>

/** Labels take only values that are fixed in the code or in the configuration: never a caller's text, no name of an object. */
export interface MetricDefinition {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  /** Of a histogram, in seconds; from a millisecond to a minute unless given. */
  buckets?: readonly number[]
}
