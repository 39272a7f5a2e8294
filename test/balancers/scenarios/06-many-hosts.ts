import assert from 'node:assert/strict'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { HTTP_LANES, type HttpLane, TITLES } from '../support/lane.ts'
import { balanced, publishedAddress, ruleOf, withdraw } from '../support/lanes.ts'

const HOSTS = 500
const PATHS = 20
/** An annotation of kubectl holds the whole object, and has 256 KiB. */
const HOSTS_OF_ONE = 100
const SAMPLE = 100
const SERVICES = ['many-0', 'many-1', 'many-2'] as const

export const scenario: Scenario = {
  name: `${HOSTS} hosts with ${PATHS} paths each`,
  async run(world) {
    for (const [index, service] of SERVICES.entries()) await world.shop.publish(service, { east: [index + 1] })
    for (const lane of HTTP_LANES) {
      const objects = Array.from({ length: HOSTS / HOSTS_OF_ONE }, (_, index) => ingressOf(lane, index))
      const before = await world.memoryOf(lane)
      const began = performance.now()
      await world.apply(...objects)
      const applied = performance.now()
      const addresses = await Promise.all(objects.map((object) => publishedAddress(world, object, 90_000)))
      for (const [host, path] of sample(HOSTS * PATHS))
        await rightly(lane, addresses[Math.floor(host / HOSTS_OF_ONE)] ?? '', host, path)
      const after = await world.memoryOf(lane)
      world.log(
        `${TITLES[lane]}: ${HOSTS * PATHS} routes in ${objects.length} objects: applied in ${seconds(applied - began)}, all of ` +
          `${SAMPLE} sampled served rightly ${seconds(performance.now() - applied)} later; ` +
          `proxy ${megabytes(before)} → ${megabytes(after)}`,
      )
      await withdraw(world, ...objects)
    }
  },
}

function ingressOf(lane: HttpLane, index: number) {
  const hosts = Array.from({ length: HOSTS_OF_ONE }, (_, offset) => index * HOSTS_OF_ONE + offset)
  const rules = hosts.map((host) => ruleOf(nameOf(host), Object.fromEntries(pathsOf(host))))
  return balanced(lane, 'many', { name: `${lane}-many-${index}`, spec: { rules } })
}

function nameOf(host: number): string {
  return `host-${host}.many.example.com`
}

function pathsOf(host: number): [path: string, service: string][] {
  return Array.from({ length: PATHS }, (_, path) => [`/path-${path}`, serviceOf(host, path)])
}

function serviceOf(host: number, path: number): string {
  return SERVICES[(host + path) % SERVICES.length] ?? ''
}

/** Spread over all of them, the first and the last among them. */
function sample(routes: number): [host: number, path: number][] {
  return Array.from({ length: SAMPLE }, (_, index) => {
    const route = Math.round((index * (routes - 1)) / (SAMPLE - 1))
    return [Math.floor(route / PATHS), route % PATHS]
  })
}

async function rightly(lane: HttpLane, address: string, host: number, path: number): Promise<void> {
  const target = { protocol: 'http', address, port: 80, host: nameOf(host), path: `/path-${path}/below` } as const
  const expected = `east-${SERVICES.indexOf(serviceOf(host, path) as (typeof SERVICES)[number]) + 1}`
  await eventually(async () => {
    const { status, pod } = await ask(target)
    assert.equal(pod?.pod ?? status, expected, `${TITLES[lane]}: ${target.host}${target.path}`)
  }, 30_000)
  const elsewhere = await ask({ ...target, path: `/path-${path}x` })
  assert.equal(elsewhere.status, 404, `${TITLES[lane]}: ${target.host}/path-${path}x`)
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MB`
