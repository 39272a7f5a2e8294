import assert from 'node:assert/strict'
import type { Scenario } from '../scenario.ts'
import { LANES, TITLES } from '../support/lane.ts'
import { answersFrom, expose, onEach } from '../support/lanes.ts'
import { describeFailures, startLoad } from '../support/load.ts'

export const scenario: Scenario = {
  name: 'function, watch and agent dead: traffic flows on, and what changed meanwhile is found afterwards',
  async run(world) {
    await world.shop.publish('orphaned', { east: [1], west: [1] })
    const targets = await expose(world, 'orphaned')
    const loads = await onEach(LANES, async (lane) => startLoad(targets[lane], { reuse: lane !== 'tcp', pauseMs: 20 }))
    try {
      await world.killEverybody()
      await Promise.all(Object.values(loads).map((load) => load.more(1_000)))
      await world.shop.setPods('orphaned', 'west', [2])
      await Promise.all(Object.values(loads).map((load) => load.more(1_000)))
    } finally {
      const tallies = await onEach(LANES, (lane) => loads[lane].stop())
      await world.startEverybody()
      for (const lane of LANES) {
        world.log(`${TITLES[lane]}: ${describeFailures(tallies[lane])} while nobody was there`)
        assert.equal(tallies[lane].failed, 0, TITLES[lane])
        assert.equal(tallies[lane].byPod['west-2'], undefined, `${TITLES[lane]} was programmed by the dead`)
      }
    }
    for (const functionProcess of Object.values(world.functions)) await functionProcess.sweep()
    for (const lane of LANES) await answersFrom(targets[lane], 'west-2')
  },
}
