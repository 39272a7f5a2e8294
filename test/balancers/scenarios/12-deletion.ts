import assert from 'node:assert/strict'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { LANES, TITLES } from '../support/lane.ts'
import { balanced, expose, withdraw } from '../support/lanes.ts'

export const scenario: Scenario = {
  name: 'objects deleted: nothing of them is left in the proxies, and what belongs to others is as it was',
  async run(world) {
    const foreignAddress = world.networks.balancer(200)
    await world.caddy.put('/apps/http/servers/foreign', foreignServer(`${foreignAddress}:80`))
    const foreign = { protocol: 'http', address: foreignAddress, port: 80 } as const
    const before = await world.caddy.config('/apps/http/servers/foreign')
    await world.shop.publish('passing', { east: [1], west: [1] })
    const targets = await expose(world, 'passing')
    assert.equal((await ask(foreign)).text, 'of somebody else')
    await withdraw(world, ...LANES.map((lane) => balanced(lane, 'passing')))
    for (const lane of LANES) await assert.rejects(ask(targets[lane]), `${TITLES[lane]} still answers`)
    await eventually(async () => {
      assert.deepEqual(await world.caddy.config('/apps/http/servers'), { foreign: before })
      assert.deepEqual(await world.haproxy.records(), [])
    })
    assert.equal((await ask(foreign)).text, 'of somebody else')
    for (const functionProcess of Object.values(world.functions)) {
      const { listed } = await functionProcess.sweep()
      assert.equal(listed, 0, 'objects that are left')
    }
  },
}

function foreignServer(listen: string): object {
  return {
    listen: [listen],
    automatic_https: { disable: true },
    routes: [{ handle: [{ handler: 'static_response', body: 'of somebody else' }] }],
  }
}
