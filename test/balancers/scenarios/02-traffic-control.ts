import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { LANES, TITLES } from '../support/lane.ts'
import { expose, onEach } from '../support/lanes.ts'
import { describeFailures, type Load, startLoad } from '../support/load.ts'

const LIMIT_MS = 2_000

export const scenario: Scenario = {
  name: 'TrafficControl on a cluster: no request goes there two seconds later, and they come back after it',
  async run(world) {
    await world.shop.publish('controlled', { east: [1, 2], west: [1, 2] })
    const targets = await expose(world, 'controlled')
    // A connection of layer 4 stays where it is: what is new is balanced.
    const loads = await onEach(LANES, async (lane) => startLoad(targets[lane], { reuse: lane !== 'tcp', pauseMs: 30 }))
    const all = Object.values(loads)
    try {
      await Promise.all(all.map((load) => load.more(300)))
      const asked = performance.now()
      await world.shop.setTrafficControl('west', true)
      await pause(LIMIT_MS)
      await Promise.all(all.map((load) => load.more(300)))
      const lastAfter = (load: Load) =>
        Math.max(0, ...load.requests.filter(({ cluster }) => cluster === 'west').map(({ from }) => from - asked))
      for (const lane of LANES)
        assert.ok(lastAfter(loads[lane]) <= LIMIT_MS, `${TITLES[lane]}: ${lastAfter(loads[lane]).toFixed(0)} ms later`)
      const last = LANES.map((lane) => `${TITLES[lane]} ${lastAfter(loads[lane]).toFixed(0)} ms`)
      const allowed = performance.now()
      await world.shop.setTrafficControl('west', false)
      for (const lane of LANES)
        await eventually(() => {
          const isBack = loads[lane].requests.some(({ from, cluster }) => cluster === 'west' && from > allowed)
          assert.ok(isBack, `${TITLES[lane]}: nothing comes back to the cluster`)
        }, LIMIT_MS)
      world.log(`last request to the blocked cluster, after the event: ${last.join(', ')}`)
    } finally {
      await world.shop.setTrafficControl('west', false)
      const tallies = await onEach(LANES, (lane) => loads[lane].stop())
      for (const lane of LANES) world.log(`${TITLES[lane]}: ${describeFailures(tallies[lane])}, while it came and went`)
      for (const lane of LANES) assert.ok(tallies[lane].failed <= (lane === 'caddy' ? 2 : 0), TITLES[lane])
    }
  },
}
