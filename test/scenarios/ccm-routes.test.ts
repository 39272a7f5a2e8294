import t from 'tap'
import type { Node, NodeCondition } from '../../src/domain/node.ts'
import type { Route } from '../../src/domain/nodes/route.ts'
import { NotImplemented, RetryAfter } from '../../src/provider/errors.ts'
import type { FakeClusterCall } from '../../src/providers/fake/fake-call-log.ts'
import type { FakeRoute } from '../../src/providers/fake/fake-routes.ts'
import { buildMachine, buildNode, READY } from '../support/build-nodes.ts'
import { createNodeWorld, type NodeWorld, type NodeWorldOptions } from '../support/node-world.ts'

// The cases C-114 to C-132: routes to the pods of each node, through every door that can tell of them.

type Door = 'review' | 'cloud event' | 'routes' | 'all'
const DOORS: Door[] = ['review', 'cloud event', 'routes', 'all']

interface Scenario {
  cases: string
  title: string
  nodes: Node[]
  routes?: FakeRoute[]
  /** Numbers of the nodes that have no machine. */
  without?: number[]
  /** Calls that fail, as often as they are made. */
  fails?: (call: FakeClusterCall, world: NodeWorld) => Error | undefined
  cloud?: string
  arrange?(world: NodeWorld): void
  story(t: Assert, world: NodeWorld, look: () => Promise<void>): Promise<void>
}

type Assert = Pick<typeof t, 'equal' | 'match' | 'ok' | 'notOk' | 'strictSame'>

const route = (number: number, overrides: Partial<FakeRoute> = {}): FakeRoute => ({
  cluster: 'kubernetes',
  name: `r${number}`,
  destinationCIDR: `10.244.${number}.0/24`,
  nextHop: `i-${number}`,
  ...overrides,
})
const THEN = '2026-01-01T00:00:00Z'
const DUAL = { spec: { podCIDRs: ['10.244.1.0/24', '2001:db8:0:1::/64'] } }

const SCENARIOS: Scenario[] = [
  {
    cases: 'R-RT-1 R-RT-5 R-RT-6',
    title: 'each node gets its route and the word that it has a network; afterwards nothing is written',
    nodes: [buildNode(1), buildNode(2)],
    async story(t, world, look) {
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1', '10.244.2.0/24 → i-2'])
      t.match(condition(world, 'n1'), {
        status: 'False',
        reason: 'RouteCreated',
        message: 'RouteController created a route',
        lastTransitionTime: /^2026-03-01/,
      })
      t.match(world.node('n1')?.status?.conditions?.[0], READY, 'conditions of others stay')
      t.match(world.cloud.routes.all()[0]?.name, /NU1/, 'the hint is the uid of the node')
      const before = [world.writes.length, world.calls().length]
      await look()
      t.equal(world.writes.length, before[0])
      t.notOk(
        world
          .calls()
          .slice(before[1])
          .some((call) => /^(create|delete)Route/.test(call)),
      )
    },
  },
  {
    cases: 'C-114',
    title: "a blackhole within the cluster's network goes",
    nodes: [buildNode(1)],
    routes: [route(9)],
    async story(t, world, look) {
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1'])
    },
  },
  {
    cases: 'C-116',
    title: 'a route of another cluster stays, ours that nobody needs goes',
    nodes: [buildNode(1)],
    routes: [route(200, { cluster: 'another' }), route(1), route(2, { nextHop: 'i-1' })],
    async story(t, world, look) {
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1', '10.244.200.0/24 → i-200'])
    },
  },
  {
    cases: 'C-117 C-118',
    title: 'a route to a machine that vanished is listed as a blackhole, and deleted by its next hop',
    nodes: [buildNode(1), buildNode(2)],
    routes: [route(9, { nextHop: 'i-vanished' })],
    async story(t, world, look) {
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1', '10.244.2.0/24 → i-2'])
      const deletion = world.cloud.calls().find(({ method }) => method === 'deleteRoute')
      t.strictSame(deletion?.hosts, ['i-vanished'])
    },
  },
  {
    cases: 'C-119',
    title: 'a network that was given to another node has one next hop at any time',
    nodes: [buildNode(1)],
    routes: [route(1, { nextHop: 'i-dead' })],
    async story(t, world, look) {
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1'])
      const changes = world.calls().filter((call) => /^(create|delete)Route/.test(call))
      t.strictSame(changes, ['deleteRoute 10.244.1.0/24', 'createRoute 10.244.1.0/24'])
    },
  },
  {
    cases: 'C-121',
    title: 'a create that fails because the route exists did not fail',
    nodes: [buildNode(1)],
    fails({ method }, { cloud }) {
      if (method !== 'createRoute') return undefined
      if (cloud.routes.all().length === 0) cloud.routes.put(route(1))
      return new Error('409 already exists')
    },
    async story(t, world, look) {
      await look()
      t.match(condition(world, 'n1'), { status: 'False', reason: 'RouteCreated' })
      t.notOk(world.events().some((event) => event.includes('FailedToCreateRoute')))
    },
  },
  {
    cases: 'C-122',
    title: 'a create that fails is told on the node, whose network then is not there; others are served; tried again',
    nodes: [buildNode(1), buildNode(2)],
    without: [1],
    async story(t, world, look) {
      await look()
      t.match(condition(world, 'n1'), { status: 'True', reason: 'NoRouteCreated' })
      t.match(condition(world, 'n2'), { status: 'False', reason: 'RouteCreated' })
      t.ok(
        world
          .events()
          .includes(
            'Warning FailedToCreateRoute: Could not create route NU1 10.244.1.0/24 for node n1: no machine is called n1',
          ),
        world.events().join('\n'),
      )
      world.cloud.machines.put(buildMachine(1))
      await world.clock.advance(20_000)
      t.match(condition(world, 'n1'), { status: 'False', reason: 'RouteCreated' })
    },
  },
  {
    cases: 'C-123',
    title: "a network plugin's word is replaced by ours, and ours is left",
    nodes: [withCondition(1, 'CalicoIsUp'), withCondition(2, 'RouteCreated')],
    routes: [route(1), route(2)],
    async story(t, world, look) {
      await look()
      t.match(condition(world, 'n1'), { status: 'False', reason: 'RouteCreated', lastTransitionTime: THEN })
      t.strictSame(routeWrites(world), ['patch Node/status n1'])
    },
  },
  {
    cases: 'C-124',
    title: 'a node without networks: nothing is said; with an old route that goes: it has no network',
    nodes: [buildNode(2, { spec: { podCIDRs: [] } }), buildNode(3, { spec: { podCIDRs: [] } })],
    routes: [route(3)],
    async story(t, world, look) {
      await look()
      t.equal(condition(world, 'n2'), undefined)
      t.match(condition(world, 'n3'), { status: 'True', reason: 'NoRouteCreated' })
      t.strictSame(hops(world), [])
    },
  },
  {
    cases: 'C-126 R-RT-9',
    title: 'of two families one fails: the node has no network; a family that the cloud has not is not tried for ever',
    nodes: [buildNode(1, DUAL)],
    fails: ({ method, about }) =>
      method === 'createRoute' && about.includes(':') ? new NotImplemented('no routes for IPv6') : undefined,
    async story(t, world, look) {
      await look()
      t.match(condition(world, 'n1'), { status: 'True', reason: 'NoRouteCreated' })
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1'])
      t.ok(world.events().some((event) => event.includes('no routes for IPv6')))
      const tried = world.calls().length
      await world.clock.advance(600_000)
      t.equal(world.calls().filter((call) => call.startsWith('createRoute')).length <= tried, true)
      t.equal(world.calls().length, tried, 'left to the next sweep')
    },
  },
  {
    cases: 'C-127',
    title: 'a network that is named twice is one route',
    nodes: [buildNode(4, { spec: { podCIDRs: ['10.244.4.0/24', '10.244.4.0/24'] } })],
    async story(t, world, look) {
      await look()
      t.equal(world.calls().filter((call) => call.startsWith('createRoute')).length, 1)
      t.match(condition(world, 'n4'), { status: 'False' })
    },
  },
  {
    cases: 'C-128',
    title: "a network outside the cluster's gets its route, and keeps it when the node is gone",
    nodes: [buildNode(3, { spec: { podCIDRs: ['10.99.0.0/24'] } }), buildNode(1)],
    async story(t, world, look) {
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1', '10.99.0.0/24 → i-3'])
      await world.remove({ kind: 'Node', namespace: '', name: 'n3' })
      await look()
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1', '10.99.0.0/24 → i-3'])
    },
  },
  {
    cases: 'C-129',
    title: 'one network in two ways of writing is one network',
    nodes: [buildNode(1, { spec: { podCIDRs: ['2001:0db8:0000:0001::/64'] } })],
    routes: [route(1, { destinationCIDR: '2001:db8:0:1::/64' })],
    cloud: 'clusterCidr: "10.244.0.0/16,2001:db8::/48"',
    async story(t, world, look) {
      await look()
      t.notOk(world.calls().some((call) => /^(create|delete)Route/.test(call)))
      t.match(condition(world, 'n1'), { status: 'False' })
    },
  },
  {
    cases: 'C-131',
    title: 'routes that cannot be listed: nothing changes; tried again',
    nodes: [buildNode(1)],
    routes: [route(9)],
    fails: ({ method }, { clock }) =>
      method === 'listRoutes' && clock.now() < Date.parse('2026-03-01T08:00:12Z')
        ? new Error('the cloud is down')
        : undefined,
    async story(t, world, look) {
      await look()
      t.strictSame(routeWrites(world), [])
      t.notOk(world.calls().some((call) => /^(create|delete)Route/.test(call)))
      await world.clock.advance(20_000)
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1'])
    },
  },
  {
    cases: 'R-RT-3',
    title: 'a route whose deletion fails is tried again, and keeps no node from its own',
    nodes: [buildNode(1)],
    routes: [route(9)],
    fails: ({ method }, { clock }) =>
      method === 'deleteRoute' && clock.now() < Date.parse('2026-03-01T08:00:12Z') ? new Error('locked') : undefined,
    async story(t, world, look) {
      await look()
      t.match(condition(world, 'n1'), { status: 'False' })
      await world.clock.advance(20_000)
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1'])
    },
  },
  {
    cases: 'R-RT-5',
    title: 'a cloud that is still working is no failure: no event, and asked again when it says',
    nodes: [buildNode(1)],
    fails: ({ method }, { clock }) =>
      method === 'createRoute' && clock.now() < Date.parse('2026-03-01T08:00:12Z') ? new RetryAfter(3_000) : undefined,
    async story(t, world, look) {
      await look()
      await world.clock.advance(20_000)
      t.strictSame(hops(world), ['10.244.1.0/24 → i-1'])
      t.notOk(world.events().some((event) => event.includes('FailedToCreateRoute')))
    },
  },
  {
    cases: 'R-RT-2 R-RT-4',
    title: 'routes by address: another address is another route, deleted before it is made anew',
    nodes: [buildNode(1)],
    arrange: withAddresses,
    async story(t, world, look) {
      await look()
      const changes = world.calls().filter((call) => /^(create|delete)Route/.test(call))
      t.strictSame(changes, ['deleteRoute 10.244.1.0/24', 'createRoute 10.244.1.0/24'])
    },
    routes: [route(1)],
  },
]

for (const scenario of SCENARIOS) {
  t.test(`${scenario.cases} ${scenario.title}`, async (t) => {
    for (const door of DOORS) {
      await t.test(`through ${door}`, async (t) => {
        const world = worldOf(scenario)
        await scenario.story(t, world, () => look(world, door))
      })
    }
  })
}

t.test('C-132 the network of the pods is checked where routes are made, and its setting is named', async (t) => {
  const faults: [string, RegExp][] = [
    ['', /cloud\.clusterCidr \(--cluster-cidr\): is required/],
    ['10.244.0.0/16,10.245.0.0/16', /--cluster-cidr.*two networks of one family/],
    ['10.244.0.0/16,2001:db8::/48,10.0.0.0/8', /--cluster-cidr.*more than two networks/],
    ['10.244.0.0', /--cluster-cidr.*is not a network/],
  ]
  for (const [cidr, message] of faults) {
    const given = `clusterCidr: "${cidr}"`
    t.throws(() => createNodeWorld({ cloud: given }), { code: 'ConfigurationInvalid', message }, `"${cidr}"`)
    t.doesNotThrow(() => createNodeWorld({ cloud: `${given}, configureCloudRoutes: false` }))
    t.doesNotThrow(() => createNodeWorld({ cloud: `${given}, controllers: ["-route", "*"]` }))
    const withoutRoutes: NonNullable<NodeWorldOptions['cloudProvider']> = (fake) => ({
      ...fake,
      routes: () => undefined,
    })
    t.doesNotThrow(() => createNodeWorld({ cloud: given, cloudProvider: withoutRoutes }))
  }
  t.doesNotThrow(() => createNodeWorld({ cloud: 'clusterCidr: "2001:db8::/48,10.244.0.0/16"' }))
})

t.test('R-RT-7 what concerns routes queues them once for all that happens within ten seconds', async (t) => {
  const world = worldOf({ cases: '', title: '', nodes: [buildNode(1), buildNode(2)], story: async () => {} })
  const node = world.node('n1') as Node
  const lists = () => world.calls().filter((call) => call.startsWith('listRoutes')).length
  const changes: [string, Partial<Node>, number][] = [
    ['a heartbeat', { status: { ...node.status, conditions: [{ ...READY, lastHeartbeatTime: 'later' }] } }, 0],
    ['a label', { metadata: { ...node.metadata, labels: { a: 'b' } } }, 0],
    ['a network', { spec: { ...node.spec, podCIDRs: [] } }, 1],
    ['an address', { status: { ...node.status, addresses: [] } }, 1],
  ]
  for (const [title, before, expected] of changes) {
    const known = lists()
    const oldObject = { ...node, ...before, metadata: { ...node.metadata, ...before.metadata, resourceVersion: '1' } }
    for (const subResource of ['status', '', 'status'])
      await world.review('UPDATE', { object: node, oldObject, ...(subResource && { subResource }) })
    await world.clock.advance(9_000)
    t.equal(lists() - known, 0, `${title}: not yet`)
    await world.clock.advance(20_000)
    t.equal(lists() - known, expected, title)
  }
})

function withCondition(number: number, reason: string): Node {
  const said: NodeCondition = { type: 'NetworkUnavailable', status: 'False', reason, lastTransitionTime: THEN }
  return buildNode(number, { status: { conditions: [READY, said] } })
}

function worldOf({ nodes, routes = [], without = [], fails, cloud, arrange }: Scenario): NodeWorld {
  const world: NodeWorld = createNodeWorld({
    objects: structuredClone(nodes),
    ...(cloud !== undefined && { cloud }),
    ...(fails && {
      failure: (call) => {
        const error = fails(call, world)
        return error && { when: 'before', error }
      },
    }),
  })
  for (const { metadata } of nodes) {
    const number = Number(metadata.name.slice(1))
    if (!without.includes(number)) world.cloud.machines.put(buildMachine(number))
  }
  for (const given of routes) world.cloud.routes.put(given)
  arrange?.(world)
  return world
}

async function look(world: NodeWorld, door: Door): Promise<void> {
  const [node] = ['n1', 'n2', 'n4'].flatMap((name) => world.node(name) ?? [])
  if (door === 'review') await world.review('CREATE', { object: node })
  else if (door === 'cloud event' && node !== undefined) await world.cloudEvent('add', node)
  else if (door !== 'cloud event') await world.sweep(door)
  await world.clock.advance(door === 'routes' || door === 'all' ? 1_000 : 11_000)
}

function hops(world: NodeWorld): string[] {
  return world.cloud.routes
    .all()
    .map(({ destinationCIDR, nextHop }) => `${destinationCIDR} → ${nextHop}`)
    .sort()
}

function condition(world: NodeWorld, name: string): NodeCondition | undefined {
  return world.node(name)?.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable')
}

function routeWrites(world: NodeWorld): string[] {
  return world.writes.map(({ what }) => what).filter((what) => what.startsWith('patch Node/status'))
}

/** Routes of a cloud that go by the addresses of a node; the first listed has an old one. */
function withAddresses({ cloud }: NodeWorld): void {
  const { routes } = cloud.routes
  const list = routes.listRoutes
  routes.listRoutes = async (cluster, context) => {
    const listed: Route[] = await list(cluster, context)
    const isMade = cloud.calls().some(({ method }) => method === 'createRoute')
    const address = isMade ? buildMachine(1).addresses : [{ type: 'InternalIP', address: '10.0.0.77' }]
    return listed.map((each) => ({ ...each, enableNodeAddresses: true, targetNodeAddresses: address }))
  }
}
