import assert from 'node:assert/strict'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { TITLES } from '../support/lane.ts'
import { answers, answersFrom, expose } from '../support/lanes.ts'

export const scenarios: Scenario[] = [
  {
    name: 'Caddy restarted with nothing in it: the next sweep restores everything',
    async run(world) {
      await world.shop.publish('lost', { east: [1], west: [1] })
      const { caddy } = await expose(world, 'lost')
      await world.caddy.restart()
      await assert.rejects(ask(caddy), 'an empty Caddy answers')
      const began = performance.now()
      await world.functions.caddy.sweep()
      await answers(caddy)
      world.log(`served again ${(performance.now() - began).toFixed(0)} ms after the sweep began`)
    },
  },
  {
    name: 'HAProxy restarted: it serves from its files at once, and nobody has to do anything',
    async run(world) {
      await world.shop.publish('kept', { east: [1], west: [1] })
      const { caddy: _, ...targets } = await expose(world, 'kept')
      // Made by the runtime API, and to be in the files nevertheless.
      await world.shop.setPods('kept', 'west', [2])
      await world.shop.setPods('kept', 'east', [])
      for (const target of Object.values(targets)) await answersFrom(target, 'west-2')
      await world.functions.haproxy.kill()
      const began = performance.now()
      await world.haproxy.restart()
      for (const target of Object.values(targets)) await answersFrom(target, 'west-2')
      world.log(`${TITLES.haproxy} and ${TITLES.tcp}: served again ${(performance.now() - began).toFixed(0)} ms later`)
      await world.functions.haproxy.start()
    },
  },
]
