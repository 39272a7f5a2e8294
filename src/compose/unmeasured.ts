import type { Metrics } from '../ports/metrics.ts'

/** Where nobody reads metrics. */
export const UNMEASURED: Metrics = { count: () => {}, observe: () => {}, set: () => {} }
