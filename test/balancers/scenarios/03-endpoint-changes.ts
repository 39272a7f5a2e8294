import assert from 'node:assert/strict'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { LANES, TITLES } from '../support/lane.ts'
import { expose, onEach } from '../support/lanes.ts'
import { describeFailures, startLoad } from '../support/load.ts'

const CHANGES = 50

export const scenario: Scenario = {
  name: '50 endpoint changes under 20 connections: none fails through HAProxy, at most one a change through Caddy',
  async run(world) {
    await world.shop.publish('changing', { east: [1, 2, 3], west: [3] })
    const targets = await expose(world, 'changing')
    // Connections of layer 4 stay with their pod; there each request is one. At layer 7 some clients do the same.
    const loads = await onEach(LANES, async (lane) => [
      startLoad(targets[lane], { reuse: lane !== 'tcp', pauseMs: 30 }),
      startLoad(targets[lane], { reuse: false, connections: 4, pauseMs: 60 }),
    ])
    await Promise.all(Object.values(loads).flatMap((each) => each.map((load) => load.more(50))))
    const began = performance.now()
    try {
      for (let change = 0; change < CHANGES; change += 1) {
        const pod = `west-${(change % 3) + 1}`
        const changed = performance.now()
        await world.shop.setPods('changing', 'west', [(change % 3) + 1])
        // The new pod answers on every lane: each change is one that was made, none is passed over.
        for (const lane of LANES)
          await eventually(() => {
            const isThere = loads[lane].some((load) =>
              load.requests.some((one) => one.from > changed && one.pod === pod),
            )
            assert.ok(isThere, `${TITLES[lane]}: ${pod} does not answer after change ${change + 1}`)
          }, 5_000)
      }
    } finally {
      const seconds = (performance.now() - began) / 1_000
      const tallies = await onEach(LANES, (lane) => Promise.all(loads[lane].map((load) => load.stop())))
      world.log(`${CHANGES} changes in ${seconds.toFixed(1)} s`)
      for (const lane of LANES) {
        const [constant = '', anew = ''] = tallies[lane].map(describeFailures)
        world.log(`${TITLES[lane]}: ${constant}; of new connections: ${anew}`)
      }
      const met = tallies.caddy.reduce((sum, { repeated, failed }) => sum + repeated + failed, 0)
      world.log(
        `${TITLES.caddy}: ${met} connections were closed under a request, ${(met / CHANGES).toFixed(1)} a change`,
      )
      for (const lane of LANES) {
        const failed = tallies[lane].reduce((sum, tally) => sum + tally.failed, 0)
        assert.ok(failed <= (lane === 'caddy' ? CHANGES : 0), `${TITLES[lane]}: ${failed} failed`)
      }
    }
  },
}
