import assert from 'node:assert/strict'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { LANES, TITLES } from '../support/lane.ts'
import { balanced, expose } from '../support/lanes.ts'
import { askMany } from '../support/load.ts'

const REQUESTS = 2_000
const TOLERANCE = 5

/** Of `east`, in percent. */
const CASES: readonly { what: string; options: Record<string, string>; share: number }[] = [
  { what: 'by endpoints, 3 and 1', options: {}, share: 75 },
  { what: 'weights east=1,west=3', options: { 'cluster-weights': 'east=1,west=3' }, share: 25 },
]

export const scenario: Scenario = {
  name: 'kubectl apply: both clusters answer, in the proportion that is asked for',
  async run(world) {
    await world.shop.publish('proportion', { east: [1, 2, 3], west: [1] })
    const targets = await expose(world, 'proportion')
    for (const { what, options, share } of CASES) {
      await world.apply(...LANES.map((lane) => balanced(lane, 'proportion', { options })))
      const shares: string[] = []
      for (const lane of LANES) {
        const target = targets[lane]
        // What was asked for a moment ago comes within the second; a share of 200 requests tells the two apart.
        await eventually(async () => near(shareOf(await askMany(target, 200)), share, 15), 10_000)
        const result = await askMany(target, REQUESTS)
        assert.equal(result.failed, 0, JSON.stringify(result.failures))
        near(shareOf(result), share, TOLERANCE)
        shares.push(`${TITLES[lane]} ${shareOf(result).toFixed(1)} %`)
      }
      world.log(`${what}: ${share} % of ${REQUESTS} requests to east asked for; ${shares.join(', ')}`)
    }
  },
}

function shareOf({ byCluster, requests }: { byCluster: Record<string, number>; requests: number }): number {
  return (100 * (byCluster['east'] ?? 0)) / requests
}

function near(actual: number, expected: number, tolerance: number): void {
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual.toFixed(1)} % instead of ${expected} %`)
}
