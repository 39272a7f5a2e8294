/** Counters and histograms by name; the names and labels are listed in `domain/metric-names.ts`. */
export interface Metrics {
  count(name: string, labels?: Record<string, string>, by?: number): void
  /** Durations are in seconds. */
  observe(name: string, seconds: number, labels?: Record<string, string>): void
}
