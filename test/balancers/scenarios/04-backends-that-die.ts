import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Scenario } from '../scenario.ts'
import { LANES, type Lane, TITLES } from '../support/lane.ts'
import { expose, onEach } from '../support/lanes.ts'
import { describeFailures, type Load, startLoad } from '../support/load.ts'
import type { Request } from '../support/load-request.ts'
import { startPods } from '../support/pods.ts'
import type { PodsOfService } from '../support/shop.ts'
import type { World } from '../support/world.ts'

/** Of all requests. */
const LIMIT = 0.001
const CONNECTIONS = 20
const DARK_MS = 6_000
const DOOMED = 11
/** A pod that is silent is noticed before a client gives up. */
const COMMON = {
  'connect-timeout': '1',
  'health-check-interval': '1',
  'health-check-timeout': '1',
}
const LAYER_7 = { ...COMMON, 'health-check-path': '/healthz', 'response-timeout': '2' }
const OPTIONS: Record<Lane, Record<string, string>> = {
  caddy: LAYER_7,
  haproxy: LAYER_7,
  tcp: { ...COMMON, 'health-check-protocol': 'tcp', 'unhealthy-threshold': '2' },
}

export const scenarios: Scenario[] = [
  {
    name: 'a pod killed: fewer than one request in a thousand fails',
    run: (world) =>
      underLoad(world, 'killed', { east: [1, 2, 3], west: [1, 2, 3, DOOMED] }, async ({ doomed, loads, world }) => {
        await doomed.kill()
        await more(loads)
        // Karmada notices, some time later.
        await world.shop.setPods('killed', 'west', [1, 2, 3])
      }),
  },
  {
    name: 'a cluster lost without a word: fewer than one request in a thousand fails, at layer 4 one a client at most',
    // What is being connected when a check takes the pod out is closed with what stands; at layer 7 it is asked again.
    run: (world) =>
      underLoad(
        world,
        'unplugged',
        { east: [1, 2, 3], west: [DOOMED] },
        async ({ loads, world }) => {
          world.networks.setUplink('west', 'down')
          try {
            // Longer than any of the timeouts: nothing is saved by its coming back.
            await pause(DARK_MS)
            await more(loads)
          } finally {
            world.networks.setUplink('west', 'up')
          }
        },
        { tcp: CONNECTIONS },
      ),
  },
]

interface Failing {
  world: World
  loads: Record<Lane, Load>
  doomed: { kill(): Promise<void> }
}

async function underLoad(
  world: World,
  service: string,
  pods: PodsOfService,
  fail: (failing: Failing) => Promise<void>,
  mayFail: Partial<Record<Lane, number>> = {},
): Promise<void> {
  await world.shop.publish(service, pods)
  const doomed = await startPods(world.networks, 'west', [DOOMED])
  const targets = await expose(world, service, (lane) => ({ options: OPTIONS[lane] }))
  const loads = await onEach(LANES, async (lane) =>
    startLoad(targets[lane], { connections: CONNECTIONS, reuse: lane !== 'tcp', pauseMs: 40 }),
  )
  try {
    await more(loads)
    await fail({ world, loads, doomed })
    await more(loads)
  } finally {
    const tallies = await onEach(LANES, (lane) => loads[lane].stop())
    await doomed.kill()
    for (const lane of LANES)
      world.log(
        `${TITLES[lane]}: ${describeFailures(tallies[lane])}, the slowest took ${slowest(loads[lane].requests)} ms`,
      )
    for (const lane of LANES)
      assert.ok(
        tallies[lane].failed <= (mayFail[lane] ?? tallies[lane].requests * LIMIT),
        `${TITLES[lane]}: too many failed`,
      )
  }
}

async function more(loads: Record<Lane, Load>): Promise<void> {
  await Promise.all(Object.values(loads).map((load) => load.more(2_000)))
}

function slowest(requests: readonly Request[]): string {
  return Math.max(...requests.map(({ from, to }) => to - from)).toFixed(0)
}
