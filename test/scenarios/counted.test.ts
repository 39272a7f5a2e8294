import t from 'tap'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { ourWebhooks } from '../support/api-callers.ts'
import {
  buildClass,
  buildIngress,
  buildSecret,
  buildService,
  buildServiceWorld,
  CLASS_NAME,
  FINALIZER,
} from '../support/build-objects.ts'
import { type Door, tell } from '../support/karmada-story.ts'
import { createWorld, IDENTITY, type World } from '../support/world.ts'

// What a change costs the API server. The objects that propagation keeps are in rows of their own.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const
const isWrite = (request: string) => /^(create|patch|delete) /.test(request)
const isOfPropagation = (request: string) => /(ServiceExport|PropagationPolicy)$/.test(request)

function written(world: World) {
  const writes = world.requests.filter(isWrite)
  return { own: writes.filter((one) => !isOfPropagation(one)), propagation: writes.filter(isOfPropagation) }
}

async function make(door: Door, object: KubernetesObject): Promise<World> {
  const world = createWorld({ webhooks: door === 'reviews' ? ourWebhooks(FINALIZER, IDENTITY) : [] })
  const stored = await world.create(object)
  await tell(world, door, [{ operation: 'CREATE', object: stored as never }])
  await world.clock.advance(10_000)
  return world
}

const EXPORTED = ['create ServiceExport', 'create PropagationPolicy']

for (const { title, object, own } of [
  {
    title: 'an ingress',
    object: buildIngress(),
    own: ['patch MultiClusterIngress', 'patch MultiClusterIngress/status', 'create Event'],
  },
  {
    title: 'a service, whose status is in two parts: the address, and a condition by server-side apply',
    object: buildService(),
    own: [
      'patch MultiClusterService',
      'patch MultiClusterService/status',
      'patch MultiClusterService/status',
      'create Event',
    ],
  },
]) {
  t.test(`to serve ${title}`, async (t) => {
    const reviewed = await make('reviews', object)
    t.strictSame(written(reviewed), { own: own.slice(1), propagation: EXPORTED }, 'the review brought the finalizer')
    for (const door of ['cloudEvents', 'references', 'sweep'] as const) {
      t.strictSame(written(await make(door, object)), { own, propagation: EXPORTED }, `by ${door}`)
    }
  })
}

t.test('what an ingress with hosts, two Services and a Secret asks of the API server, its exports aside', async (t) => {
  const backend = (name: string) => ({ service: { name, port: { number: 80 } } })
  const path = (name: string) => ({ path: `/${name}`, pathType: 'Prefix', backend: backend(name) })
  const ingress = buildIngress({
    spec: {
      ingressClassName: CLASS_NAME,
      tls: [{ hosts: ['shop.example.com'], secretName: 'shop-tls' }],
      rules: [{ host: 'shop.example.com', http: { paths: [path('web'), path('cart')] } }],
    },
  })
  const objects = [buildClass(), ...buildServiceWorld('web'), ...buildServiceWorld('cart'), buildSecret('shop-tls')]
  const around = ['get Service', 'get ResourceBinding', 'list EndpointSlice']
  const gathered = [...around, ...around, 'get Secret', 'list Cluster']
  const whose = ['get MultiClusterIngress', 'get IngressClass']
  const sorted = (requests: readonly string[]) => requests.filter((one) => !isWrite(one)).toSorted()

  const world = createWorld({ objects, config: 'propagation: { enabled: false }' })
  const asked = async (operation: 'CREATE' | 'UPDATE' | 'DELETE', object: KubernetesObject) => {
    world.requests.length = 0
    await tell(world, 'cloudEvents', [{ operation, object: object as never }])
    await world.clock.advance(10_000)
    return { reads: sorted(world.requests), writes: world.requests.filter(isWrite) }
  }
  t.strictSame(
    await asked('CREATE', await world.create(ingress)),
    {
      // The list for the hosts is the second look at the ingress too, when its lock is held.
      reads: [...whose, 'list MultiClusterIngress', ...gathered].toSorted(),
      writes: ['patch MultiClusterIngress', 'patch MultiClusterIngress/status', 'create Event'],
    },
    'created: 4 reads, 3 a Service, 1 a Secret',
  )
  t.strictSame(
    await asked('UPDATE', await world.edit(INGRESS, { metadata: { labels: { team: 'a' } } })),
    { reads: [...whose, 'list MultiClusterIngress', ...gathered].toSorted(), writes: [] },
    'changed without effect',
  )
  const stored = world.read(INGRESS)
  await world.remove(INGRESS)
  t.strictSame(
    await asked('DELETE', stored as KubernetesObject),
    { reads: ['get MultiClusterIngress'], writes: ['patch MultiClusterIngress', 'create Event'] },
    'deleted',
  )
})

t.test('an update without effect costs nothing, whatever it touches', async (t) => {
  const reviewed = await make('reviews', buildIngress())
  const told = await make('cloudEvents', buildIngress())
  const edits: { title: string; body: object; subresource?: 'status' }[] = [
    { title: 'a label', body: { metadata: { labels: { team: 'a' } } } },
    {
      title: 'what kubectl apply remembers',
      body: { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' } } },
    },
    { title: 'a finalizer of another', body: { metadata: { finalizers: [FINALIZER, 'example.com/theirs'] } } },
    { title: 'nothing', body: { spec: buildIngress().spec } },
    { title: 'an empty list', body: { status: { trafficBlockClusters: [] } }, subresource: 'status' },
  ]
  for (const { title, body, subresource } of edits) {
    for (const world of [reviewed, told]) {
      world.requests.length = 0
      const calls = world.calls().filter((call) => call !== 'get').length
      const object = await world.edit(INGRESS, body, subresource)
      await tell(world, world === told ? 'cloudEvents' : 'reviews', [{ operation: 'UPDATE', object: object as never }])
      await world.clock.advance(10_000)
      t.strictSame(world.requests.filter(isWrite), [], title)
      t.equal(world.calls().filter((call) => call !== 'get').length, calls, `${title}: the cloud is left alone`)
    }
  }
})

t.test('a change that has an effect in the cloud and none on what is published costs one event', async (t) => {
  for (const { key, object } of [
    { key: INGRESS, object: buildIngress() },
    { key: SERVICE, object: buildService() },
  ]) {
    const world = await make('reviews', object)
    world.requests.length = 0
    await world.edit(key, { metadata: { annotations: { 'example.com/weight': '3' } } })
    await world.clock.advance(10_000)
    t.strictSame(world.requests.filter(isWrite), ['create Event'])
  }
})

t.test('to remove an ingress costs the release and an event', async (t) => {
  const world = await make('reviews', buildIngress())
  world.requests.length = 0
  await world.remove(INGRESS)
  await world.clock.advance(10_000)
  t.strictSame(written(world), {
    own: ['patch MultiClusterIngress', 'create Event'],
    propagation: ['delete PropagationPolicy', 'delete ServiceExport'],
  })
})

t.test('while nothing happens nobody is asked anything, and no Lease is kept', async (t) => {
  const world = createWorld({ config: 'lock: lease\nlease: { namespace: shop }' })
  for (const [object, operation] of [
    [buildIngress(), 'CREATE'],
    [buildService(), 'CREATE'],
  ] as const) {
    const stored = await world.create(object)
    await tell(world, 'cloudEvents', [{ operation, object: stored as never }])
  }
  await world.clock.advance(60_000)
  const asked = world.requests.length
  const called = world.calls().length
  t.ok(world.requests.includes('create Lease'), 'there was one while it worked')
  t.equal(world.balancers().length, 2)
  await world.clock.advance(3_600_000)
  t.strictSame(world.requests.slice(asked), [])
  t.equal(world.calls().length, called)
  t.match(await world.store.list('Lease', { namespace: 'shop', signal: new AbortController().signal }), { items: [] })
})

t.test('a sweep over 1,000 settled objects writes nothing and changes nothing', async (t) => {
  const ingresses = Array.from({ length: 700 }, (_, index) =>
    buildIngress({ metadata: { name: `storefront-${index}` } }),
  )
  const services = Array.from({ length: 300 }, (_, index) => buildService({ metadata: { name: `game-${index}` } }))
  const world = createWorld({
    objects: [
      buildClass(),
      ...buildServiceWorld('web'),
      ...services.flatMap(({ metadata }) => buildServiceWorld(metadata.name, ['edge-a'])),
      ...ingresses,
      ...services,
    ],
  })
  await tell(world, 'sweep', [])
  await world.clock.advance(60_000)
  t.equal(world.balancers().length, 1_000)
  world.requests.length = 0
  const revision = world.core.resourceVersion()
  const fingerprints = () => world.cloud.balancers().map(({ fingerprint }) => fingerprint)
  const before = fingerprints()
  await tell(world, 'sweep', [])
  await world.clock.advance(60_000)
  t.strictSame(world.requests.filter(isWrite), [])
  t.equal(world.core.resourceVersion(), revision)
  t.strictSame(fingerprints(), before)
  const counts = Object.entries(Object.groupBy(world.requests, (request) => request))
  const {
    'get MultiClusterIngress': ingress = 0,
    'get MultiClusterService': service = 0,
    ...others
  } = Object.fromEntries(counts.map(([request, all = []]) => [request, all.length]))
  t.equal(ingress + service, world.calls().filter((call) => call === 'update').length, 'only what is verified')
  t.strictSame(others, {
    'list IngressClass': 1,
    // What all objects share, and for the policy of the CRD.
    'list Cluster': 2,
    // Two pages, which have all of the namespace that they cut, for its exports. Orphans are known without a list.
    'list MultiClusterIngress': 2,
    'list Service': 1,
    'list ResourceBinding': 1,
    'list EndpointSlice': 1,
    'list PropagationPolicy': 1,
    // Around the ingresses, and the pages of their own kind.
    'list ServiceExport': 2,
    'list MultiClusterService': 2,
    'get ClusterPropagationPolicy': 1,
  })
})
