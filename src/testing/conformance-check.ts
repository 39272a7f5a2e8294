import type { Bench } from './bench.ts'

/** One point of the contract, made out of calls. */
export interface ConformanceCheck {
  name: string
  level: 1 | 2
  /** What the contract says. */
  contract: string
  /** Why there is nothing to look at, or undefined. */
  skip?(bench: Bench): string | undefined
  /** Throws `ConformanceFault` when the provider does otherwise. */
  run(bench: Bench): Promise<void>
}
