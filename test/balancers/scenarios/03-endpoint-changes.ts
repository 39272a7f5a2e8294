import assert from 'node:assert/strict'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { balanced, expose, LANES, onEach, TITLES, withdraw } from '../support/lanes.ts'
import { describeFailures, startLoad } from '../support/load.ts'

const CHANGES = 50

export const scenario: Scenario = {
  name: '50 endpoint changes under 20 connections: none fails through HAProxy, at most one a change through Caddy',
  async run(world) {
    await world.shop.publish('changing', { east: [1, 2, 3], west: [3] })
    const targets = await expose(world, 'changing')
    const loads = await onEach(LANES, async (lane) => startLoad(targets[lane], { reuse: lane !== 'tcp', pauseMs: 30 }))
    await Promise.all(Object.values(loads).map((load) => load.more(200)))
    const began = performance.now()
    try {
      for (let change = 0; change < CHANGES; change += 1) {
        const number = (change % 3) + 1
        const changed = performance.now()
        await world.shop.setPods('changing', 'west', [number])
        // The new pod answers on every lane: each change is one that was made, none is passed over.
        for (const lane of LANES)
          await eventually(() => {
            const isThere = loads[lane].requests.some(({ from, pod }) => from > changed && pod === `west-${number}`)
            assert.ok(isThere, `${TITLES[lane]}: west-${number} does not answer after change ${change + 1}`)
          }, 5_000)
      }
    } finally {
      const seconds = (performance.now() - began) / 1_000
      const tallies = await onEach(LANES, (lane) => loads[lane].stop())
      world.log(`${CHANGES} changes in ${seconds.toFixed(1)} s`)
      for (const lane of LANES) world.log(`${TITLES[lane]}: ${describeFailures(tallies[lane])}`)
      assert.equal(tallies.haproxy.failed, 0, 'HAProxy, layer 7')
      assert.equal(tallies.tcp.failed, 0, 'HAProxy, layer 4')
      assert.ok(tallies.caddy.failed <= CHANGES, 'Caddy')
    }
    await withdraw(world, ...LANES.map((lane) => balanced(lane, 'changing')))
  },
}
