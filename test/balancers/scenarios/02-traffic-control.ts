import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { LANES, TITLES } from '../support/lane.ts'
import { expose, onEach } from '../support/lanes.ts'
import { describeFailures, type Load, startLoad } from '../support/load.ts'

const LIMIT_MS = 2_000

const WAYS = {
  'status of the Cluster': 'setTrafficControl',
  Remedy: 'setRemedy',
} as const

export const scenario: Scenario = {
  name: 'TrafficControl on a cluster: no request goes there two seconds later, and they come back after it',
  async run(world) {
    await world.shop.publish('controlled', { east: [1, 2], west: [1, 2] })
    const targets = await expose(world, 'controlled')
    const { shop } = world
    // A connection of layer 4 stays where it is: what is new is balanced.
    const loads = await onEach(LANES, async (lane) => startLoad(targets[lane], { reuse: lane !== 'tcp', pauseMs: 30 }))
    const all = Object.values(loads)
    try {
      await Promise.all(all.map((load) => load.more(300)))
      const lastFrom = (load: Load, moment: number) =>
        Math.max(0, ...load.requests.filter(({ cluster }) => cluster === 'west').map(({ from }) => from - moment))
      for (const [way, set] of Object.entries(WAYS)) {
        const asked = performance.now()
        await shop[set]('west', true)
        await pause(asked + LIMIT_MS - performance.now())
        await Promise.all(all.map((load) => load.more(300)))
        const last = LANES.map((lane) => ({ lane, ms: lastFrom(loads[lane], asked) }))
        for (const { lane, ms } of last)
          assert.ok(ms <= LIMIT_MS, `${TITLES[lane]}: ${ms.toFixed(0)} ms later (${way})`)
        const allowed = performance.now()
        await shop[set]('west', false)
        for (const lane of LANES)
          await eventually(() => {
            const isBack = loads[lane].requests.some(({ from, cluster }) => cluster === 'west' && from > allowed)
            assert.ok(isBack, `${TITLES[lane]}: nothing comes back to the cluster (${way})`)
          }, LIMIT_MS)
        const told = last.map(({ lane, ms }) => `${TITLES[lane]} ${ms.toFixed(0)} ms`).join(', ')
        world.log(`${way}: last request to the blocked cluster, after the event: ${told}`)
      }
    } finally {
      await shop.setTrafficControl('west', false)
      const tallies = await onEach(LANES, (lane) => loads[lane].stop())
      for (const lane of LANES) world.log(`${TITLES[lane]}: ${describeFailures(tallies[lane])}, while it came and went`)
      for (const lane of LANES) assert.ok(tallies[lane].failed <= (lane === 'caddy' ? 4 : 0), TITLES[lane])
    }
  },
}
