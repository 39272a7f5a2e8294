import type { Answer } from '../../src/cli/check-answer.ts'
import type { FixtureRequest } from '../../src/cli/fixture.ts'
import type { Capabilities } from './capabilities.ts'
import type { LeafBench } from './leaf-bench.ts'

/** A platform and its runtime, as npm brings it, with the bundle of its leaf in it. */
export interface Leaf {
  name: string
  can: Capabilities
  facts: PlatformFacts
  /** Bytes of a request as the platform counts them; of the body unless given. */
  sizeOf?(request: FixtureRequest): number
  open(context: LeafContext): Promise<OpenLeaf>
}

/** What no run on one machine shows: of the services themselves. */
export interface PlatformFacts {
  runtime: string
  largestRequest: string
  /** Whether something goes on between two requests. */
  afterTheAnswer: string
  clientCertificates: string
  delivery: string
}

export interface LeafContext {
  /** Where the bundles are. */
  bundles: string
  bench: LeafBench
  /** Of the configuration, over those of the bench. */
  settings?: object
}

export interface OpenLeaf {
  send(request: FixtureRequest): Promise<Answer>
  /** Resolves with the exit code. */
  close(): Promise<number | null>
}
