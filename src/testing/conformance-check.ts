import type { Bench } from './bench.ts'

/** One point of the contract, made out of calls. */
export interface ConformanceCheck<B = Bench> {
  name: string
  level: 1 | 2
  /** What the contract says. */
  contract: string
  /** Why there is nothing to look at, or undefined. */
  skip?(bench: B): string | undefined
  /** Throws `ConformanceFault` when the provider does otherwise. */
  run(bench: B): Promise<void>
}
