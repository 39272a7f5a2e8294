import t from 'tap'
import { createProcessMemories } from '../../src/adapters/memory/process-memories.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { SettledPass } from '../../src/reconcilers/load-balancer/settled-pass.ts'
import { isSettledStill } from '../../src/reconcilers/load-balancer/settled-still.ts'
import type { Answer } from '../../src/reconcilers/question.ts'
import {
  buildBinding,
  buildClass,
  buildCluster,
  buildIngress,
  buildSecret,
  buildService,
  buildServiceWorld,
  buildSlice,
  buildTemplate,
  buildWork,
} from '../support/build-objects.ts'
import { createWorld, type World } from '../support/world.ts'

// A sweep remembers with which versions an object was settled. Whatever changed since, and nobody told, it must find.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const

/** One host, and a path to each Service. */
function rulesFor(host: string, services: string[]) {
  const paths = services.map((name) => ({
    path: `/${name}`,
    pathType: 'Prefix' as const,
    backend: { service: { name, port: { number: 80 } } },
  }))
  return [{ host: `${host}.example.com`, http: { paths } }]
}

const ingress = buildIngress({
  spec: {
    ingressClassName: 'multicloud',
    tls: [{ hosts: ['a.example.com'], secretName: 'cert' }],
    rules: rulesFor('shop', ['web', 'old']),
  },
})
/** Made in the same second, and first by name: what it claims, it keeps. */
const elder = buildIngress({
  metadata: { name: 'elder' },
  spec: {
    ingressClassName: 'multicloud',
    rules: rulesFor('elder', ['third']),
  },
})
/** As Karmada v1.10 leaves it: only a Work tells its cluster. */
const unplaced = buildSlice({
  service: 'old',
  cluster: 'edge-c',
  metadata: {
    name: 'imported-x7k2p',
    labels: { 'kubernetes.io/service-name': 'derived-old', 'work.karmada.io/permanent-id': 'id-c' },
    annotations: {},
  },
})
const OBJECTS: KubernetesObject[] = [
  buildClass(),
  buildCluster('edge-a'),
  buildCluster('edge-b'),
  ...buildServiceWorld('web'),
  ...buildServiceWorld('game'),
  ...buildServiceWorld('third', ['edge-b']),
  buildTemplate('old'),
  buildBinding('old', ['edge-c']),
  unplaced,
  buildSecret('cert'),
  elder,
  ingress,
  buildService(),
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'karmada-es-edge-c' } },
]

// Each balancer is verified by one sweep of many, so that nothing is found by that.
const SELDOM = 'sweep: { intervalMs: 300000, periodMs: 86400000 }'

async function sweep(world: World): Promise<void> {
  await world.http('POST', '/sweep')
  await world.clock.advance(300_000)
}

/** Each object, and what its balancer was made from. */
function madeFrom(world: World): Record<string, string | undefined> {
  return Object.fromEntries(
    world.cloud.balancers().map(({ identity, fingerprint }) => [identity.name, fingerprint] as const),
  )
}

async function settle(): Promise<World> {
  const world = createWorld({ objects: OBJECTS, config: SELDOM })
  for (let times = 0; times < 3; times += 1) await sweep(world)
  return world
}

const slice = (service: string) =>
  ({ kind: 'EndpointSlice', namespace: 'shop', name: `imported-edge-a-${service}-x7k2p` }) as const

for (const { changed, of, change } of [
  {
    changed: 'the ingress',
    of: ['storefront'],
    change: (world: World) => world.edit(INGRESS, { metadata: { annotations: { 'example.com/idle': '5' } } }),
  },
  {
    changed: 'the service',
    of: ['game'],
    change: (world: World) => world.edit(SERVICE, { spec: { range: { providerClusterNames: ['edge-a'] } } }),
  },
  {
    changed: 'a Service',
    of: ['storefront'],
    change: (world: World) =>
      world.edit({ kind: 'Service', namespace: 'shop', name: 'web' }, { spec: { ports: [{ name: 'web', port: 80 }] } }),
  },
  {
    changed: 'a binding',
    of: ['storefront'],
    change: (world: World) =>
      world.edit(
        { kind: 'ResourceBinding', namespace: 'shop', name: 'web-service' },
        { spec: { clusters: [{ name: 'edge-a' }] } },
      ),
  },
  {
    changed: 'a slice',
    of: ['storefront'],
    change: (world: World) => world.edit(slice('web'), { endpoints: [{ addresses: ['10.64.0.99'] }] }),
  },
  {
    changed: 'a slice of the Service of a service',
    of: ['game'],
    change: (world: World) => world.edit(slice('game'), { endpoints: [{ addresses: ['10.64.0.99'] }] }),
  },
  {
    changed: 'a slice more',
    of: ['storefront'],
    change: (world: World) =>
      world.create(buildSlice({ endpoints: ['10.64.0.12'], metadata: { name: 'imported-edge-a-web-more' } })),
  },
  {
    changed: 'a Work that tells where a slice is from',
    of: ['storefront'],
    change: (world: World) =>
      world.create({ ...buildWork('karmada-es-edge-c', 'id-c'), spec: { workload: { manifests: [] } } } as never),
  },
  {
    changed: 'a Cluster',
    of: ['game', 'storefront'],
    change: (world: World) =>
      world.edit(
        { kind: 'Cluster', namespace: '', name: 'edge-a' },
        { status: { remedyActions: ['TrafficControl'] } },
        'status',
      ),
  },
  {
    changed: 'a Secret',
    of: ['storefront'],
    change: (world: World) =>
      world.edit(
        { kind: 'Secret', namespace: 'shop', name: 'cert' },
        { data: { 'tls.crt': btoa('renewed'), 'tls.key': btoa('renewed') } },
      ),
  },
  {
    changed: 'a host, which an older ingress claims too',
    of: ['elder', 'storefront'],
    change: (world: World) => world.edit({ ...INGRESS, name: 'elder' }, { spec: { rules: rulesFor('shop', ['web']) } }),
  },
  {
    changed: 'the class',
    of: ['elder', 'storefront'],
    change: (world: World) =>
      world.edit(
        { kind: 'IngressClass', namespace: '', name: 'multicloud' },
        { spec: { controller: 'another.example.com/controller' } },
      ),
  },
]) {
  t.test(`a sweep finds a change that nobody told: ${changed}`, async (t) => {
    const world = await settle()
    const before = madeFrom(world)
    await sweep(world)
    t.strictSame(madeFrom(world), before, 'nothing to do')
    await change(world)
    await sweep(world)
    const after = madeFrom(world)
    t.strictSame(
      Object.keys(before)
        .filter((name) => after[name] !== before[name])
        .sort(),
      of,
    )
    const calls = world.calls().filter((call) => call !== 'get' && call !== 'list').length
    await sweep(world)
    t.equal(world.calls().filter((call) => call !== 'get' && call !== 'list').length, calls, 'and then no more')
  })
}

for (const lists of [true, false]) {
  const how = lists ? 'that lists what it knows' : 'that is asked for each'
  t.test(`a sweep finds that the balancer is gone, or was made from something else: a provider ${how}`, async (t) => {
    for (const found of [undefined, { fingerprint: 'of before' }]) {
      let isLost = false
      const world = createWorld({
        objects: OBJECTS,
        config: SELDOM,
        provider: ({ loadBalancer, ...fake }) => ({
          ...fake,
          ...(loadBalancer && {
            loadBalancer: {
              ...loadBalancer,
              getLoadBalancer: async (object, context) =>
                isLost ? found : loadBalancer.getLoadBalancer(object, context),
              listLoadBalancers: async (context) =>
                ((await loadBalancer.listLoadBalancers?.(context)) ?? []).flatMap(({ record, ...identity }) => {
                  if (!lists) return [identity]
                  if (!isLost) return [{ ...identity, ...(record && { record }) }]
                  return found === undefined ? [] : [{ ...identity, record: found }]
                }),
            },
          }),
        }),
      })
      for (let times = 0; times < 3; times += 1) await sweep(world)
      const calls = world.calls().length
      isLost = true
      await sweep(world)
      t.match(world.calls().slice(calls).join(), found === undefined ? /ensure/ : /update/)
    }
  })
}

t.test('what is settled with the same versions is settled still', (t) => {
  const key = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
  const settled = createProcessMemories<SettledPass>()
  const answer = (version: string): Answer => ({
    question: { text: 'Service/shop/web', kind: 'Service', namespace: 'shop', name: 'web' },
    version,
  })
  const world = { answers: [answer('uid-2@5')], conflicts: '' }
  settled.remember(key, 'uid-1', { resourceVersion: '7', ...world, fingerprint: 'f' })
  const stored = { ...ingress, status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } }
  const object = { ...stored, metadata: { ...stored.metadata, uid: 'uid-1', resourceVersion: '7' } }
  const record = { fingerprint: 'f', status: { ingress: [{ ip: '203.0.113.7' }] } }
  const is = (look: object, now: object = {}) =>
    isSettledStill({ object, record, verify: false, ...look } as never, { ...world, ...now }, { settled, key } as never)
  t.ok(is({}))
  t.ok(is({ record: { fingerprint: 'f' } }), 'the provider says nothing of its address')
  t.notOk(is({}, { answers: [answer('uid-2@6')] }))
  t.notOk(is({}, { answers: [] }))
  t.notOk(is({}, { conflicts: 'with another' }))
  t.notOk(is({ verify: true }))
  t.notOk(is({ record: undefined }))
  t.notOk(is({ record: {} }), 'a provider that keeps no fingerprint')
  t.notOk(is({ record: { ...record, fingerprint: 'g' } }))
  t.notOk(is({ record: { ...record, status: { ingress: [{ ip: '203.0.113.8' }] } } }), 'another address')
  t.notOk(is({ object: { ...object, metadata: { ...object.metadata, resourceVersion: '8' } } }), 'another version')
  t.notOk(is({ object: { ...object, metadata: { ...object.metadata, uid: 'uid-3' } } }), 'another of its name')
  t.end()
})
