import type { Fixture } from '../../src/cli/fixture.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { type Carried, carry } from './carry-fixtures.ts'
import type { Leaf, LeafContext } from './leaf.ts'
import type { LeafBench } from './leaf-bench.ts'
import { LEAVES } from './leaves.ts'

/** What a leaf did with every fixture, and with each way to say which queue it has. */
export interface LeafRun {
  leaf: Leaf
  carried: Map<string, Carried>
  memoryQueue: MemoryQueue
}

/** When the function starts with the queue in its memory. */
export type MemoryQueue = 'by default' | 'only by name' | 'refused'

export async function runLeaves(context: { bundles: string; bench: LeafBench }): Promise<LeafRun[]> {
  const fixtures = await loadFixtures()
  const queues = new Map<string, MemoryQueue>()
  const runs: LeafRun[] = []
  for (const leaf of LEAVES) {
    const carried = await carryAll(leaf, fixtures, context)
    // Fronts of one platform start the same function.
    const [platform = ''] = leaf.name.split(',')
    const memoryQueue = queues.get(platform) ?? (await memoryQueueOf(leaf, context))
    queues.set(platform, memoryQueue)
    runs.push({ leaf, carried, memoryQueue })
  }
  return runs
}

async function carryAll(leaf: Leaf, fixtures: Map<string, Fixture>, context: LeafContext): Promise<LeafRun['carried']> {
  const carried: LeafRun['carried'] = new Map()
  const open = await leaf.open(context)
  try {
    for (const [name, fixture] of fixtures) carried.set(name, await carry(fixture, leaf, open, context.bench))
  } finally {
    await open.close()
  }
  return carried
}

async function memoryQueueOf(leaf: Leaf, context: LeafContext): Promise<MemoryQueue> {
  if (await starts(leaf, { ...context, settings: { queue: {} } })) return 'by default'
  return (await starts(leaf, { ...context, settings: { queue: { kind: 'memory' } } })) ? 'only by name' : 'refused'
}

/** Whether it answers; false where it ended and said that the queue is why. */
async function starts(leaf: Leaf, context: LeafContext): Promise<boolean> {
  try {
    const open = await leaf.open(context)
    try {
      await open.send({ method: 'POST', path: '/admission/mutate', headers: {}, body: Buffer.alloc(0) })
    } finally {
      await open.close()
    }
    return true
  } catch (error) {
    if (/ConfigurationInvalid: [\s\S]*queue\.kind: [\s\S]*set queue\.kind to cloudevents/.test(String(error)))
      return false
    throw error
  }
}
