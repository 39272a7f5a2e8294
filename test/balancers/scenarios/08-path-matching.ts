import assert from 'node:assert/strict'
import type { MultiClusterIngress } from '../../../src/domain/multi-cluster-ingress.ts'
import { matchRoute } from '../../../src/domain/routing/match-route.ts'
import { planIngressRoutes } from '../../../src/domain/routing/plan-ingress-routes.ts'
import { routeSettings } from '../../../src/domain/routing/route-settings.ts'
import { eachOf } from '../../apiserver/support/each-of.ts'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { buildBackends, buildPort } from '../../support/build-backends.ts'
import { buildIngress } from '../../support/build-objects.ts'
import { describeRow, ingressOfRow, PATH_TABLE, type PathRow, serviceOfRow } from '../../support/path-table.ts'
import type { Scenario } from '../scenario.ts'
import { ask } from '../support/connection.ts'
import { HTTP_LANES, type HttpLane, TITLES } from '../support/lane.ts'
import { type Balanced, balanced, onEach, withdraw } from '../support/lanes.ts'
import { createRandom, randomIngress, randomRequest } from '../support/random-ingress.ts'
import type { World } from '../support/world.ts'

/** The Services of the table, each a pod of its own, so that an answer says which one was taken. */
const PODS_OF_SERVICE = {
  s0: { east: [1] },
  s1: { east: [2] },
  s2: { east: [3] },
  s3: { west: [1] },
  fallback: { west: [2] },
} as const

const SERVICES = new Map(
  Object.entries(PODS_OF_SERVICE).map(([service, pods]) => {
    const [[cluster, numbers] = ['', []]] = Object.entries(pods)
    return [`${cluster}-${numbers[0]}`, service]
  }),
)

const ROWS_OF_ONE = 15
const SEED = 20_260_301
const PLANS = 15
const REQUESTS = 40

export const scenarios: Scenario[] = [
  {
    name: 'path matching: every row of the documentation, and of the most specific host, through both proxies',
    async run(world) {
      for (const [service, pods] of Object.entries(PODS_OF_SERVICE)) await world.shop.publish(service, pods)
      await onEach(HTTP_LANES, (lane) => theTable(world, lane))
      world.log(`${PATH_TABLE.length} rows through ${HTTP_LANES.length} proxies`)
    },
  },
  {
    name: 'path matching: random objects, two of them on one address, answered as the reference matcher says',
    async run(world) {
      await onEach(HTTP_LANES, (lane) => randomly(world, lane))
      world.log(
        `${PLANS} addresses, ${PLANS * REQUESTS} requests through each of ${HTTP_LANES.length} proxies, seed ${SEED}`,
      )
    },
  },
]

/**
 * Rows that name no host get one of their own, and share an address with one default backend. What is about hosts has its
 * address alone.
 */
async function theTable(world: World, lane: HttpLane): Promise<void> {
  const [shared = '', ...addresses] = world.pools[lane].rows
  const rows = PATH_TABLE.map((row, index) => ({ row, index }))
  const [aboutHosts, aboutPaths] = [
    rows.filter(({ row }) => namesHosts(row)),
    rows.filter(({ row }) => !namesHosts(row)),
  ]
  const rulesOf = ({ row, index }: (typeof rows)[number]) =>
    (ingressOfRow(row).spec?.rules ?? []).map((rule) => ({ ...rule, host: `row-${index}` }))
  const fallback = buildIngress({ spec: { defaultBackend: { service: { name: 'fallback', port: { number: 80 } } } } })
  const asked = [
    ...aboutPaths.map((each) => ({ ...each, address: shared, host: `row-${each.index}` })),
    ...aboutHosts.map((each, place) => ({
      ...each,
      address: addresses[place] ?? '',
      host: hostApart(each.row.host, each.index),
    })),
  ]
  const objects = [
    placed(lane, 'table-fallback', fallback, shared),
    ...chunksOf(ROWS_OF_ONE, aboutPaths).map((some, index) =>
      placed(lane, `table-${index}`, buildIngress({ spec: { rules: some.flatMap(rulesOf) } }), shared),
    ),
    ...aboutHosts.map(({ row, index }, place) =>
      placed(lane, `row-${index}`, apart(ingressOfRow(row), index), addresses[place] ?? ''),
    ),
  ]
  await world.apply(...objects)
  try {
    const wrong: string[] = []
    await eachOf(asked, 10, async ({ row, address, host }) => {
      const expected = serviceOfRow(row)
      const served = await settled(address, host, row.path, expected)
      if (served !== expected) wrong.push(`${describeRow(row)}, not ${served}`)
    })
    assert.deepEqual(wrong, [], TITLES[lane])
  } finally {
    await withdraw(world, ...objects)
  }
}

function namesHosts({ rules }: PathRow): boolean {
  return rules.some(({ host }) => host !== undefined)
}

function chunksOf<T>(size: number, items: readonly T[]): T[][] {
  return items.length === 0 ? [] : [items.slice(0, size), ...chunksOf(size, items.slice(size))]
}

/** Of two objects with a host and a path in common the older has it, whatever their addresses: each row has its own names. */
function apart(ingress: MultiClusterIngress, row: number): MultiClusterIngress {
  const rules = (ingress.spec?.rules ?? []).map(({ host, ...rest }) => ({
    ...(host === undefined ? {} : { host: hostApart(host, row) }),
    ...rest,
  }))
  return { ...ingress, spec: { ...ingress.spec, rules } }
}

/** `foo.bar.com:80` → `foo.bar.com.row-7:80` */
function hostApart(host: string, row: number): string {
  return host.replace(/(:\d+)?$/, `.row-${row}$1`)
}

/** Two objects an address; what the first has, the second leaves out. */
async function randomly(world: World, lane: HttpLane): Promise<void> {
  const random = createRandom(SEED)
  const addresses = world.pools[lane].rows
  const cases = Array.from({ length: PLANS }, (_, index) => {
    const first = randomIngress(random, [])
    const both = [first, randomIngress(random, [first])]
    const requests = Array.from({ length: REQUESTS }, () => randomRequest(random, both)).map(({ host, path }) => ({
      host: hostApart(host, index),
      path,
    }))
    const ingresses = both.map((ingress) => apart(ingress, index))
    return { address: addresses[index] ?? '', ingresses, requests, index }
  })
  const objects = cases.flatMap(({ ingresses, address, index }) =>
    ingresses.map((ingress, place) => placed(lane, `random-${index}-${place}`, ingress, address)),
  )
  await world.apply(...objects)
  try {
    const wrong: string[] = []
    for (const { address, ingresses, requests } of cases) {
      await eachOf(requests, 5, async ({ host, path }) => {
        const expected = expectedOf(ingresses, host, path)
        const served = await settled(address, host, path, expected)
        if (served !== expected)
          wrong.push(
            `${host}${path} → ${expected}, not ${served}: ${JSON.stringify(ingresses.map(({ spec }) => spec))}`,
          )
      })
      if (wrong.length > 5) break
    }
    assert.deepEqual(wrong, [], TITLES[lane])
  } finally {
    await withdraw(world, ...objects)
  }
}

function placed(lane: HttpLane, name: string, { spec = {} }: MultiClusterIngress, address: string): Balanced {
  const { ingressClassName: _, ...rest } = spec
  return balanced(lane, name, { spec: rest, options: { 'address-pool': 'rows', 'static-ip': address } })
}

const BACKENDS = buildBackends(
  Object.fromEntries(Object.keys(PODS_OF_SERVICE).map((name) => [name, [buildPort({ east: ['10.0.0.1:80'] })]])),
)

function expectedOf(ingresses: readonly MultiClusterIngress[], host: string, path: string): string {
  const plans = ingresses.map((ingress) => planIngressRoutes(ingress, BACKENDS, [], routeSettings({})))
  const [withoutQuery = ''] = path.split('?')
  const match = matchRoute(plans, host, withoutQuery)
  if (match.kind === 'none') return '404'
  const upstream = match.kind === 'default' ? match.upstream : match.route.upstream
  return upstream?.replace(/:80$/, '') ?? '503'
}

/** What answers, as soon as it is as expected; what answers in the end when it never is. */
async function settled(address: string, host: string, path: string, expected: string): Promise<string> {
  let served = ''
  try {
    return await eventually(
      async () => {
        const { status, pod } = await ask({ protocol: 'http', address, port: 80, host, path })
        served = pod === undefined ? String(status) : (SERVICES.get(pod.pod) ?? pod.pod)
        assert.equal(served, expected)
        return served
      },
      15_000,
      100,
    )
  } catch (error) {
    return served === '' ? String(error) : served
  }
}
