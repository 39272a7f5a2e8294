import { checkAnswer, checkQueued } from '../../src/cli/check-answer.ts'
import type { Fixture } from '../../src/cli/fixture.ts'
import { asQueuedWork } from '../support/fixtures.ts'
import { type Capabilities, cannotCarry } from './capabilities.ts'
import type { Leaf, OpenLeaf } from './leaf.ts'
import type { LeafBench } from './leaf-bench.ts'

/** What became of one fixture at one leaf. */
export type Carried =
  /** Answered, and queued, as the fixture expects. */
  | { kind: 'answered' }
  /** Refused as the fixture expects, but by the platform, before it reached us. */
  | { kind: 'refused by the platform'; status: number }
  | { kind: 'not carried'; missing: keyof Capabilities }
  | { kind: 'wrong'; faults: string[] }

/** Sent also where it cannot be carried: a platform that turns out to carry it is described wrongly. */
export async function carry(fixture: Fixture, leaf: Leaf, open: OpenLeaf, bench: LeafBench): Promise<Carried> {
  const { request, expect } = fixture
  const missing = missingFor(fixture, leaf)
  // The limits are those of services that are not here.
  if (missing === 'requestLimit') return { kind: 'not carried', missing }
  bench.forget()
  const answer = await open.send(request)
  const queued = bench.queued()
  const faults = [...checkAnswer(fixture, answer), ...checkQueued(fixture, asQueuedWork(queued))]
  if (missing !== undefined) {
    return faults.length > 0
      ? { kind: 'not carried', missing }
      : { kind: 'wrong', faults: [`carried in spite of ${missing}`] }
  }
  if (faults.length === 0) return { kind: 'answered' }
  const isRefusal = expect.status >= 400 && answer.status >= 400 && queued.length === 0
  if (!leaf.can.malformed && isRefusal) return { kind: 'refused by the platform', status: answer.status }
  return { kind: 'wrong', faults }
}

/** An event that is refused anyway may as well be refused by the platform. */
function missingFor({ request, expect }: Fixture, leaf: Leaf): keyof Capabilities | undefined {
  const missing = cannotCarry(request, leaf.can, leaf.sizeOf?.(request) ?? request.body.length)
  return missing === 'unreadEvents' && expect.status >= 400 ? undefined : missing
}
