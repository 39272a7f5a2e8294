import assert from 'node:assert/strict'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { LANES, type Lane, TITLES } from '../support/lane.ts'
import { type Balanced, backendOf, balanced, pathOf, targetAt, withdraw } from '../support/lanes.ts'
import { POOL_HOSTNAME } from '../support/pools.ts'
import { NAMESPACE } from '../support/shop.ts'
import type { World } from '../support/world.ts'

const SWEEPS = 3

export const scenarios: Scenario[] = [
  {
    name: 'addresses: of a pool, static, behind a name, and of both families',
    async run(world) {
      for (const lane of LANES) await eachWay(world, lane)
    },
  },
  {
    name: 'a port that another object has: one event, no address, and no flap over sweeps; served when it is free',
    async run(world) {
      for (const lane of LANES) await competition(world, lane)
    },
  },
]

async function eachWay(world: World, lane: Lane): Promise<void> {
  const pools = world.pools[lane]
  const [, , static3 = ''] = pools.rows
  const ways: { what: string; options: Record<string, string>; published: string[]; reached: string[] }[] = [
    { what: 'pool', options: {}, published: pools.default, reached: pools.default },
    {
      what: 'IPv6',
      options: { 'ip-families': 'IPv6' },
      published: pools.default.slice(1),
      reached: pools.default.slice(1),
    },
    {
      what: 'static',
      options: { 'address-pool': 'rows', 'static-ip': static3 },
      published: [static3],
      reached: [static3],
    },
    {
      what: 'pool with a name',
      options: { 'address-pool': 'named' },
      published: [POOL_HOSTNAME],
      reached: pools.named,
    },
    {
      what: 'hostname',
      options: { hostname: 'shop.example.com' },
      published: ['shop.example.com'],
      reached: pools.default,
    },
  ]
  const service = `addresses-${lane}`
  await world.shop.publish(service, { east: [1], west: [1] }, ['IPv4', 'IPv6'])
  const object = (options: Record<string, string>) => balanced(lane, service, { options })
  for (const { what, options, published, reached } of ways) {
    await world.apply(object(options))
    await eventually(async () => {
      assert.deepEqual(
        (await publishedBy(world, object({}))).toSorted(),
        published.toSorted(),
        `${TITLES[lane]}: ${what}`,
      )
      for (const address of reached) {
        const { pod, status } = await ask(targetAt(lane, address, service))
        assert.ok(pod, `${TITLES[lane]}: ${what}: ${address} answers ${status}`)
      }
    })
  }
  await withdraw(world, object({}))
}

/** The one address of the pool, wanted by two: at layer 4 a port, at layer 7 the requests for any host. */
async function competition(world: World, lane: Lane): Promise<void> {
  const [first, second] = [`first-${lane}`, `second-${lane}`]
  const options = { 'address-pool': 'scarce' }
  const object = (service: string) =>
    balanced(lane, service, { options, ...(lane === 'tcp' ? {} : { spec: { defaultBackend: backendOf(service) } }) })
  await world.shop.publish(first, { east: [1] })
  await world.shop.publish(second, { west: [1] })
  await world.apply(object(first))
  await eventually(async () => assert.deepEqual(await publishedBy(world, object(first)), world.pools[lane].scarce))
  await world.apply(object(second))
  const complaint = await eventually(async () => {
    const [event, ...more] = await warningsOf(world, object(second))
    assert.ok(event !== undefined && more.length === 0, `${TITLES[lane]}: ${more.length + 1} warnings`)
    return event
  })
  const target = { ...targetAt(lane, world.pools[lane].scarce[0] ?? '', 'wanted') }
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    await world.functionOf(lane).sweep()
    assert.equal((await ask(target)).pod?.cluster, 'east', TITLES[lane])
  }
  assert.deepEqual(await warningsOf(world, object(second)), [complaint], `${TITLES[lane]}: sweeps repeat the event`)
  await withdraw(world, object(first))
  await eventually(async () => {
    await world.functionOf(lane).sweep()
    assert.equal((await ask(target)).pod?.cluster, 'west', TITLES[lane])
  }, 20_000)
  world.log(`${TITLES[lane]}: ${complaint.reason}: ${complaint.message}`)
  await withdraw(world, object(second))
}

async function publishedBy(world: World, object: Balanced): Promise<string[]> {
  const { status } = await mustBe(200, world.admin.get(pathOf(object)))
  const { loadBalancer } = (status ?? {}) as { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } }
  return (loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname ?? '')
}

interface Complaint {
  reason: string
  message: string
  count: number
}

async function warningsOf(world: World, { metadata }: Balanced): Promise<Complaint[]> {
  const selector = `involvedObject.name=${metadata.name},type=Warning`
  const path = `/api/v1/namespaces/${NAMESPACE}/events?fieldSelector=${encodeURIComponent(selector)}`
  const { items = [] } = await mustBe(200, world.admin.get(path))
  return items.map(({ reason = '', message = '', ...rest }) => ({ reason, message, count: Number(rest['count'] ?? 1) }))
}
