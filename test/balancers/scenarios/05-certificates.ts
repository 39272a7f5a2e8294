import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { HTTP_LANES, TITLES } from '../support/lane.ts'
import { balanced, hostOf, onEach, publishedAddress, ruleOf } from '../support/lanes.ts'
import { describeFailures, startLoad } from '../support/load.ts'
import type { Target } from '../support/target.ts'

const SERVICE = 'secure'
const HOST = hostOf(SERVICE)
const LIMIT_MS = 2_000
const ROTATIONS = 5

export const scenario: Scenario = {
  name: 'a certificate rotated in its Secret is served two seconds later, and nobody notices through HAProxy',
  async run(world) {
    const { authority, shop } = world
    const issue = () => authority.issueServingCertificate([HOST])
    await shop.publish(SERVICE, { east: [1], west: [1] })
    await shop.setSecret(SERVICE, await issue())
    const spec = { rules: [ruleOf(HOST, { '/': SERVICE })], tls: [{ hosts: [HOST], secretName: SERVICE }] }
    const objects = HTTP_LANES.map((lane) => balanced(lane, SERVICE, { spec }))
    await world.apply(...objects)
    const targets = await onEach(HTTP_LANES, async (lane): Promise<Target> => {
      const address = await publishedAddress(world, balanced(lane, SERVICE))
      const target = { protocol: 'https', address, port: 443, host: HOST, caPem: authority.caPem } as const
      await eventually(async () => assert.equal((await ask(target)).status, 200, TITLES[lane]))
      return target
    })
    // Both kinds of clients: those that stay connected, and those that shake hands each time.
    const loads = await onEach(HTTP_LANES, async (lane) => [
      startLoad(targets[lane], { connections: 10, pauseMs: 30 }),
      startLoad(targets[lane], { connections: 4, reuse: false, pauseMs: 60 }),
    ])
    const slowest = { caddy: 0, haproxy: 0 }
    try {
      for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
        const next = await issue()
        const rotated = performance.now()
        await shop.setSecret(SERVICE, next)
        await onEach(HTTP_LANES, async (lane) => {
          await eventually(async () => {
            const { fingerprint } = await ask(targets[lane])
            assert.equal(
              fingerprint,
              new X509Certificate(next.certPem).fingerprint256,
              `${TITLES[lane]} serves the certificate before`,
            )
          }, LIMIT_MS)
          slowest[lane] = Math.max(slowest[lane], performance.now() - rotated)
        })
      }
    } finally {
      for (const lane of HTTP_LANES) {
        const tallies = await Promise.all(loads[lane].map((load) => load.stop()))
        const [kept = '', anew = ''] = tallies.map(describeFailures)
        world.log(
          `${TITLES[lane]}: ${ROTATIONS} rotations, the slowest served after ${slowest[lane].toFixed(0)} ms; ` +
            `kept connections: ${kept}; new ones: ${anew}`,
        )
        const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0)
        assert.ok(failed <= (lane === 'haproxy' ? 0 : ROTATIONS), TITLES[lane])
      }
    }
  },
}
