import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Kind } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import { RetryAfter, Terminal } from '../../src/provider/errors.ts'
import { aroundProvider, type ProviderCall } from '../support/around-provider.ts'
import {
  buildBinding,
  buildClass,
  buildCluster,
  buildIngress,
  buildService,
  buildServiceWorld,
  buildSlice,
  buildTemplate,
  DEFAULT_CLASS,
  FINALIZER,
} from '../support/build-objects.ts'
import { describeBackends } from '../support/describe-backends.ts'
import { stored, tell as tellThrough } from '../support/karmada-story.ts'
import { createWorld, type World, type WorldOptions } from '../support/world.ts'

// B1–B34 of ../shared/reference/karmada.md §1.7 and D1–D7 of peers.md §2: what breaks in the Go manager. Each test is
// named by what must not happen, and fails where it does.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const
const CLASS = { kind: 'IngressClass', namespace: '', name: 'multicloud' } as const
const BINDING = { kind: 'ResourceBinding', namespace: 'shop', name: 'web-service' } as const
const EXPORT = { kind: 'ServiceExport', namespace: 'shop', name: 'web' } as const
const POLICY = { kind: 'PropagationPolicy', namespace: 'shop', name: 'propagate-service-web' } as const
const CRD_POLICY = { kind: 'ClusterPropagationPolicy', namespace: '', name: 'serviceexportpropagation-policy' } as const
const THEIRS = buildClass({ metadata: { name: 'theirs' }, spec: { controller: 'example.com/b' } })
const HELD = { finalizers: [FINALIZER] }

type Operation = 'CREATE' | 'UPDATE' | 'DELETE'

/** A CloudEvent about an object as it is, or, for one that is gone, as it was. */
async function tell(world: World, operation: Operation, key: ObjectKey, was?: KubernetesObject): Promise<void> {
  const object = stored(world, `${key.kind}/${key.namespace}/${key.name}`) ?? was
  if (object !== undefined) await tellThrough(world, 'cloudEvents', [{ operation, object: object as never }])
  await world.clock.advance(1_000)
}

async function sweep(world: World): Promise<void> {
  await world.http('POST', '/sweep')
  await world.clock.advance(1_000)
}

/** A control plane where the function serves the ingress, or the service. */
async function served(key: typeof INGRESS | typeof SERVICE, options: WorldOptions = {}): Promise<World> {
  const world = createWorld(options)
  await world.create(key.kind === 'MultiClusterIngress' ? buildIngress() : buildService())
  await tell(world, 'CREATE', key)
  return world
}

const changes = (world: World) => world.calls().filter((method) => method !== 'get')
const writes = (world: World) => world.requests.filter((request) => /^(create|patch|delete) /.test(request))
const exists = (world: World, key: ObjectKey & { kind: Kind }) => world.read(key) !== undefined

/** Fails, or does something first, at some of the patches. */
function atPatch(act: (patch: number, ...call: Parameters<ClusterStore['patch']>) => Promise<void> | void) {
  let patches = 0
  return (store: ClusterStore): ClusterStore => ({
    ...store,
    async patch(...call) {
      patches += 1
      await act(patches, ...(call as Parameters<ClusterStore['patch']>))
      return store.patch(...call)
    },
  })
}

/** The pools of the last ensure or update. */
function pools({ handed }: World) {
  const last = handed.findLast(({ method }) => method === 'ensure' || method === 'update')
  return last && describeBackends(last.context.backends)
}

// ---- MultiClusterIngress and its class ----

t.test('B1: a resource backend stops nothing', async (t) => {
  const world = createWorld()
  const resource = { apiGroup: 'k8s.example.com', kind: 'StorageBucket', name: 'static' }
  const paths = [{ path: '/', pathType: 'Prefix', backend: { resource } }]
  await world.create(buildIngress({ spec: { ...buildIngress().spec, rules: [{ http: { paths } }] } }))
  await tell(world, 'CREATE', INGRESS)
  await tell(world, 'UPDATE', { kind: 'Service', namespace: 'shop', name: 'web' })
  t.equal(world.cloud.balancers().length, 1)
  t.ok(world.events().some((event) => event.startsWith('Warning ResourceBackendNotSupported')))
  t.strictSame(
    world.logs.filter(({ level }) => level === 'error'),
    [],
  )
})

t.test(
  'B2, D4: a provider that reports no status crashes nothing and clears nothing; an empty one clears',
  async (t) => {
    const published = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } }
    for (const key of [INGRESS, SERVICE]) {
      for (const { status, expected } of [
        { status: undefined, expected: published.loadBalancer },
        { status: { ingress: [] }, expected: undefined },
      ]) {
        const world = createWorld({
          provider: (fake) =>
            aroundProvider(fake, async ({ method }, next) => {
              const answer = await next()
              if (method === 'get') return answer && (status === undefined ? {} : { status })
              return method === 'ensureDeleted' ? answer : status === undefined ? {} : { status }
            }),
        })
        await world.create(key.kind === 'MultiClusterIngress' ? buildIngress() : buildService())
        await world.edit(key, { status: published }, 'status')
        await tell(world, 'CREATE', key)
        await tell(world, 'UPDATE', key)
        t.ok(changes(world).includes('ensure') && changes(world).includes('update'), 'both were asked')
        t.strictSame(world.read(key)?.status?.loadBalancer, expected)
        t.strictSame(
          world.logs.filter(({ level }) => level === 'error'),
          [],
        )
      }
    }
  },
)

t.test('B3, D3: one conflict at the release does not keep the finalizer for ever', async (t) => {
  let conflicted = false
  const world: World = await served(SERVICE, {
    wrapStore: atPatch((_patch, _key, patch) => {
      if (conflicted || patch.type !== 'json' || patch.operations.every(({ op }) => op !== 'remove')) return
      conflicted = true
      throw new CatalogueError('Conflict', 'the object has been modified')
    }),
  })
  await world.edit(SERVICE, { spec: { types: ['CrossCluster'] } })
  await tell(world, 'UPDATE', SERVICE)
  t.ok(conflicted)
  t.strictSame(world.balancers(), [])
  t.equal(world.read(SERVICE)?.metadata.finalizers, undefined)
  await world.remove(SERVICE)
  t.notOk(exists(world, SERVICE))
})

t.test('B4, D4: a type that is taken away leaves no stale address in the status', async (t) => {
  const world = await served(SERVICE)
  t.ok(world.read(SERVICE)?.status?.loadBalancer)
  await world.edit(SERVICE, { spec: { types: ['CrossCluster'] } })
  await tell(world, 'UPDATE', SERVICE)
  t.equal(world.read(SERVICE)?.status?.loadBalancer, undefined)
})

t.test('B5, D1: a class that is changed away leaks no balancer and leaves no finalizer', async (t) => {
  const world = await served(INGRESS, { objects: [buildClass(), THEIRS, ...buildServiceWorld('web')] })
  await world.edit(INGRESS, { spec: { ingressClassName: 'theirs' } })
  await tell(world, 'UPDATE', INGRESS)
  t.strictSame(world.balancers(), [])
  t.equal(world.read(INGRESS)?.metadata.finalizers, undefined)
  await world.remove(INGRESS)
  t.notOk(exists(world, INGRESS), 'and a later deletion does not hang')
})

t.test('B6: a class that goes first does not make deletions hang', async (t) => {
  const second = buildClass({ metadata: { name: 'second', annotations: DEFAULT_CLASS } })
  for (const { title, act } of [
    { title: 'deleted', act: (world: World) => world.remove(CLASS) },
    {
      title: 'default no more',
      act: (world: World) =>
        world.edit(CLASS, { metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': null } } }),
    },
    { title: 'a second default', act: (world: World) => world.create(second) },
  ]) {
    const world = createWorld({
      objects: [buildClass({ metadata: { annotations: DEFAULT_CLASS } }), ...buildServiceWorld('web')],
    })
    const { ingressClassName: _none, ...spec } = buildIngress().spec ?? {}
    await world.create(buildIngress({ spec }))
    await tell(world, 'CREATE', INGRESS)
    t.equal(world.cloud.balancers().length, 1)
    await act(world)
    await tell(world, 'UPDATE', CLASS)
    t.equal(world.cloud.balancers().length, 1, `${title}: what serves keeps serving`)
    await world.remove(INGRESS)
    await tell(world, 'UPDATE', INGRESS)
    t.notOk(exists(world, INGRESS), title)
    t.strictSame(world.balancers(), [], title)
  }
})

t.test('B7: an ingress does not wait for ever for a class that comes, or becomes the default, later', async (t) => {
  const world = createWorld({ objects: buildServiceWorld('web') })
  await world.create(buildIngress())
  const { ingressClassName: _none, ...spec } = buildIngress().spec ?? {}
  await world.create(buildIngress({ metadata: { name: 'by-default' }, spec }))
  await tell(world, 'CREATE', INGRESS)
  t.strictSame(world.handed, [])
  await world.create(buildClass())
  await tell(world, 'CREATE', CLASS)
  t.equal(world.cloud.balancers().length, 1)
  await world.edit(CLASS, { metadata: { annotations: DEFAULT_CLASS } })
  await tell(world, 'UPDATE', CLASS)
  t.equal(world.cloud.balancers().length, 2)
})

t.test('B8: an API server that cannot say what the class is loses no event', async (t) => {
  let down = true
  const world = createWorld({
    wrapStore: (store) => ({
      ...store,
      get: (key, options) =>
        down && key.kind === 'IngressClass'
          ? Promise.reject(new CatalogueError('ApiUnreachable', 'connection refused'))
          : store.get(key, options),
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.strictSame(world.handed, [])
  down = false
  await world.clock.advance(10_000)
  t.equal(world.cloud.balancers().length, 1)
})

t.test('B9: a retry does not act on an ingress that belongs to another by now', async (t) => {
  const world = createWorld({
    objects: [buildClass(), THEIRS, ...buildServiceWorld('web')],
    failure: ({ method }) => (method === 'ensure' ? { when: 'before', error: new Error('quota') } : undefined),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.edit(INGRESS, { spec: { ingressClassName: 'theirs' } })
  const before = world.calls().filter((method) => method === 'ensure').length
  await world.clock.advance(600_000)
  t.equal(world.calls().filter((method) => method === 'ensure').length, before)
  t.equal(world.read(INGRESS)?.metadata.finalizers, undefined)
})

t.test('B10: a cluster under TrafficControl at the very first reconcile gets no traffic', async (t) => {
  const world = await served(INGRESS, {
    objects: [
      buildClass(),
      ...buildServiceWorld('web'),
      buildCluster('edge-a'),
      buildCluster('edge-b', ['TrafficControl']),
    ],
  })
  t.strictSame(changes(world), ['ensure'])
  t.match(world.handed.find(({ method }) => method === 'ensure')?.object, {
    status: { trafficBlockClusters: ['edge-b'] },
  })
  t.strictSame(pools(world), { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080'], 'edge-b': 'blocked' } })
  t.strictSame(world.read(INGRESS)?.status?.trafficBlockClusters, ['edge-b'])
})

t.test('B11: a cluster that is gone does not stay in the status', async (t) => {
  const edge = buildCluster('edge-b', ['TrafficControl'])
  const world = await served(INGRESS, {
    objects: [buildClass(), ...buildServiceWorld('web'), buildCluster('edge-a'), edge],
  })
  const key = { kind: 'Cluster', namespace: '', name: 'edge-b' } as const
  await world.remove(key)
  await tell(world, 'DELETE', key, edge)
  t.equal(world.read(INGRESS)?.status?.trafficBlockClusters, undefined)
  await world.edit(BINDING, { spec: { clusters: [{ name: 'edge-a' }] } })
  await tell(world, 'UPDATE', BINDING)
  t.strictSame(world.read(INGRESS)?.status?.serviceLocations, [{ name: 'web', clusters: ['edge-a'] }])
})

t.test(
  'B12: the provider is not called with a copy from before the claim, and the status does not conflict',
  async (t) => {
    const world = await served(INGRESS)
    const ensured = world.handed.find(({ method }) => method === 'ensure')
    t.strictSame(ensured?.object?.metadata.finalizers, [FINALIZER])
    const written = world.read(INGRESS)?.metadata.resourceVersion
    t.equal(Number(ensured?.object?.metadata.resourceVersion), Number(written) - 1, 'the version before the status')
    t.strictSame(
      writes(world).filter((request) => request.startsWith('patch MultiClusterIngress')),
      ['patch MultiClusterIngress', 'patch MultiClusterIngress/status'],
    )
  },
)

t.test('B13, D5: a finalizer that another adds while we claim is not dropped', async (t) => {
  const world: World = createWorld({
    wrapStore: atPatch(async (patch) => {
      if (patch === 1) await world.edit(INGRESS, { metadata: { finalizers: ['example.com/theirs'] } })
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.strictSame(world.read(INGRESS)?.metadata.finalizers, ['example.com/theirs', FINALIZER])
  t.equal(world.cloud.balancers().length, 1)
})

t.test('B14: the release writes the finalizers and no other field', async (t) => {
  const paths: string[][] = []
  const core = 'karmada.io/multiclusterservice-controller'
  const world = await served(SERVICE, {
    wrapStore: atPatch((_patch, _key, patch) => {
      if (patch.type === 'json') paths.push(patch.operations.filter(({ op }) => op !== 'test').map(({ path }) => path))
    }),
  })
  await world.edit(SERVICE, { metadata: { finalizers: [core, FINALIZER] } })
  await world.remove(SERVICE)
  await tell(world, 'UPDATE', SERVICE)
  t.strictSame(paths.at(-1), ['/metadata/finalizers/1'])
  t.strictSame(world.read(SERVICE)?.metadata.finalizers, [core])
})

const CONDITION = {
  type: 'ServiceApplied',
  status: 'True',
  reason: 'Ok',
  message: '',
  lastTransitionTime: '2026-03-01T08:00:00Z',
}

t.test('B15: what Karmada writes to the status meanwhile is not lost', async (t) => {
  let written = false
  const world: World = createWorld({
    wrapStore: atPatch(async (_patch, _key, _body, { subresource }) => {
      if (subresource === undefined || written) return
      written = true
      await world.edit(SERVICE, { status: { conditions: [CONDITION] } }, 'status')
    }),
  })
  await world.create(buildService())
  await tell(world, 'CREATE', SERVICE)
  const status = world.read(SERVICE)?.status
  t.ok(written)
  t.match(status?.conditions, [CONDITION, { type: 'LoadBalancerReady' }])
  t.strictSame(status?.loadBalancer, { ingress: [{ ip: '192.0.2.1' }] })
})

t.test('B16: conflicts, more of them than five in a row, do not lose the work', async (t) => {
  let conflicts = 0
  const world: World = createWorld({
    wrapStore: atPatch(async (_patch, { kind }, _body, { subresource }) => {
      if (kind !== 'MultiClusterIngress' || subresource === undefined || conflicts === 12) return
      conflicts += 1
      await world.edit(INGRESS, { metadata: { annotations: { turn: `${conflicts}` } } })
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(10_000)
  t.equal(conflicts, 12)
  t.match(world.read(INGRESS)?.status, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } })
  t.equal(world.balancers().length, 1)
})

t.test('B17: an object whose finalizer somebody took by hand leaks no balancer, told of or not', async (t) => {
  for (const isTold of [true, false]) {
    const world = await served(INGRESS)
    const was = world.read(INGRESS)
    await world.edit(INGRESS, { metadata: { finalizers: null } })
    await world.remove(INGRESS)
    t.equal(world.balancers().length, 1)
    if (isTold) {
      await tell(world, 'DELETE', INGRESS, was)
    } else {
      await sweep(world)
      t.equal(world.balancers().length, 1, 'not at first sight')
      await world.clock.advance(300_000)
      await sweep(world)
    }
    t.strictSame(world.balancers(), [])
  }
})

t.test('B18, D7: events of a Service cost a CrossCluster object no call to the cloud', async (t) => {
  const world = createWorld()
  await world.create(buildService({ spec: { types: ['CrossCluster'] } }))
  await tell(world, 'CREATE', SERVICE)
  await tell(world, 'UPDATE', { kind: 'Service', namespace: 'shop', name: 'game' })
  for (let index = 0; index < 5; index += 1) {
    await tell(world, 'UPDATE', { kind: 'EndpointSlice', namespace: 'shop', name: 'imported-edge-a-game-x7k2p' })
  }
  await sweep(world)
  t.strictSame(world.handed, [])
})

t.test('B19: a hand-made slice of a Service that is called derived-web is not one of web', async (t) => {
  const slice = buildSlice({ endpoints: ['10.99.0.1'] })
  const { annotations: _none, ...metadata } = slice.metadata
  const handMade = {
    ...slice,
    metadata: { ...metadata, name: 'by-hand', labels: { 'kubernetes.io/service-name': 'derived-web' } },
  }
  const world = await served(INGRESS)
  await world.create(handMade)
  world.handed.length = 0
  await tell(world, 'CREATE', { kind: 'EndpointSlice', namespace: 'shop', name: 'by-hand' })
  t.strictSame(world.handed, [], 'no reconcile of what serves web')
  await world.edit(INGRESS, { metadata: { annotations: { a: '1' } } })
  await tell(world, 'UPDATE', INGRESS)
  t.strictSame(pools(world), { 'shop/web:80/TCP': { 'edge-a': ['10.64.0.11:8080'], 'edge-b': ['10.65.0.11:8080'] } })
})

t.test('B20: a TLS entry without a Secret is not looked up under no name', async (t) => {
  const world = createWorld()
  await world.create(buildIngress({ spec: { ...buildIngress().spec, tls: [{ hosts: ['store.example.com'] }] } }))
  await tell(world, 'CREATE', INGRESS)
  t.notOk(world.requests.includes('get Secret'))
  t.equal(world.cloud.balancers().length, 1)
  await tellThrough(world, 'cloudEvents', [
    { operation: 'CREATE', object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'any', namespace: 'shop' } } },
  ])
  world.handed.length = 0
  await world.clock.advance(1_000)
  t.strictSame(world.handed, [])
})

t.test('B21: the binding of a Knative Service says nothing of the Service of its name', async (t) => {
  const knative = {
    ...buildBinding('web', ['elsewhere']),
    spec: {
      resource: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', namespace: 'shop', name: 'web' },
      clusters: [{ name: 'elsewhere' }],
    },
  }
  const world = await served(INGRESS, { objects: [buildClass(), buildTemplate('web'), knative] })
  t.equal(world.read(INGRESS)?.status?.serviceLocations, undefined)
  t.strictSame(pools(world), { 'shop/web:80/TCP': {} })
  t.notOk(exists(world, POLICY))
})

// ---- propagation ----

t.test('B22: exports and policies of a user are not deleted, and none of theirs crashes anything', async (t) => {
  const clusterAffinities = [{ affinityName: 'a', clusterNames: ['edge-a'] }]
  const theirs = [
    { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', metadata: EXPORT },
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: POLICY,
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }], placement: { clusterAffinities } },
    },
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: CRD_POLICY.name },
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'Namespace' }], placement: { clusterAffinities } },
    },
  ].map(({ metadata: { name, ...scope }, ...rest }) => ({
    ...rest,
    metadata: { name, ...('namespace' in scope && { namespace: scope.namespace }) },
  }))
  const world = await served(INGRESS, {
    objects: [buildClass(), ...buildServiceWorld('web'), buildCluster('edge-a'), ...theirs],
  })
  const versions = () => [EXPORT, POLICY, CRD_POLICY].map((key) => world.read(key)?.metadata.resourceVersion)
  const before = versions()
  await sweep(world)
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  await sweep(world)
  t.notOk(exists(world, INGRESS))
  t.strictSame(versions(), before)
  t.strictSame(
    world.logs.filter(({ level }) => level === 'error'),
    [],
  )
})

t.test(
  'B23, B24: a Service that is scheduled nowhere keeps no policy, and none that would select every cluster',
  async (t) => {
    const world = await served(INGRESS)
    t.strictSame(world.read(POLICY)?.spec?.placement?.clusterAffinity?.clusterNames, ['edge-a', 'edge-b'])
    await world.edit(BINDING, { spec: { clusters: [] } })
    await tell(world, 'UPDATE', BINDING)
    t.notOk(exists(world, POLICY))
    t.ok(exists(world, EXPORT))
  },
)

t.test('B24, B25: the policy of the CRD names the clusters that there are, and goes with the last', async (t) => {
  const world = createWorld({ objects: [buildCluster('edge-a'), buildCluster('edge-b')] })
  const names = () => world.read(CRD_POLICY)?.spec?.placement?.clusterAffinity?.clusterNames
  await sweep(world)
  t.strictSame(names(), ['edge-a', 'edge-b'])
  await world.remove({ kind: 'Cluster', namespace: '', name: 'edge-b' })
  await sweep(world)
  t.strictSame(names(), ['edge-a'], 'B25: removed while nobody listened')
  await world.remove({ kind: 'Cluster', namespace: '', name: 'edge-a' })
  await sweep(world)
  t.notOk(exists(world, CRD_POLICY), 'B24: no empty list')
})

t.test('B26: the policy of a Service with a long name is not refused by Karmada up to v1.10', async (t) => {
  const name = 'checkout-frontend-with-a-rather-long-name-eu-west1'
  const world = createWorld({ objects: [buildClass(), ...buildServiceWorld(name, ['edge-a'])] })
  await world.create(
    buildIngress({
      spec: { defaultBackend: { service: { name, port: { number: 80 } } }, ingressClassName: 'multicloud' },
    }),
  )
  await tell(world, 'CREATE', INGRESS)
  const policies = world.core.list({ group: 'policy.karmada.io', version: 'v1alpha1', plural: 'propagationpolicies' })
  t.equal(policies.items.length, 1)
  t.ok(policies.items.every(({ metadata }) => metadata.name.length <= 63))
})

t.test('B27: nothing is exported for ingresses of other classes, nor for those in deletion', async (t) => {
  const leaving = { deletionTimestamp: '2026-03-01T08:00:00Z', finalizers: ['example.com/hold'] }
  for (const metadata of [{}, leaving]) {
    const ingressClassName = metadata === leaving ? 'multicloud' : 'theirs'
    const ingress = buildIngress({ metadata, spec: { ...buildIngress().spec, ingressClassName } })
    const world = createWorld({ objects: [buildClass(), THEIRS, ...buildServiceWorld('web'), ingress] })
    await tell(world, 'UPDATE', INGRESS)
    await tell(world, 'UPDATE', { kind: 'Service', namespace: 'shop', name: 'web' })
    await sweep(world)
    t.notOk(exists(world, EXPORT))
    t.notOk(exists(world, POLICY))
  }
})

t.test('B28: exports do not stay behind when the class went before the ingress', async (t) => {
  const world = await served(INGRESS)
  t.ok(exists(world, EXPORT))
  await world.remove(CLASS)
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  await sweep(world)
  t.notOk(exists(world, EXPORT))
  t.notOk(exists(world, POLICY))
})

// ---- providers ----

t.test('B29: two providers do not take each other’s objects', async (t) => {
  const other = 'webhook-cloud-provider.dev/other'
  const world = createWorld()
  await world.create(buildIngress({ metadata: { finalizers: [other] } }))
  await world.create(buildService({ metadata: { finalizers: [other] } }))
  await sweep(world)
  await world.remove(INGRESS)
  await world.remove(SERVICE)
  await sweep(world)
  t.strictSame(changes(world), [])
  for (const key of [INGRESS, SERVICE]) t.strictSame(world.read(key)?.metadata.finalizers, [other])
})

t.test('B30: success and failure of an ingress are not kept from its owner', async (t) => {
  let failing = true
  const world = createWorld({
    failure: ({ method }) =>
      failing && method === 'ensure' ? { when: 'before', error: new Error('quota exceeded') } : undefined,
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  failing = false
  await world.clock.advance(10_000)
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  t.strictSame(
    world.events().map((event) => event.split(':')[0]),
    ['Warning SyncLoadBalancerFailed', 'Normal EnsuredLoadBalancer', 'Normal DeletedLoadBalancer'],
  )
})

t.test('B31: a service does not send traffic to a cluster under TrafficControl', async (t) => {
  const world = await served(SERVICE, {
    objects: [...buildServiceWorld('game'), buildCluster('edge-a'), buildCluster('edge-b')],
  })
  const edge = { kind: 'Cluster', namespace: '', name: 'edge-b' } as const
  await world.edit(edge, { status: { remedyActions: ['TrafficControl'] } }, 'status')
  await tell(world, 'UPDATE', edge)
  t.strictSame(pools(world), { 'shop/game:80/TCP': { 'edge-a': ['10.64.0.11:8080'], 'edge-b': 'blocked' } })
})

t.test(
  'B32: what is not finished is asked for again, and a balancer that somebody removed is made again',
  async (t) => {
    const slow = await served(INGRESS, { delayMs: 60_000 })
    t.equal(slow.read(INGRESS)?.status?.loadBalancer, undefined)
    await slow.clock.advance(61_000)
    t.match(slow.read(INGRESS)?.status, { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } })

    const [call] = slow.handed
    await slow.cloud.ensureDeleted((call as ProviderCall).context)
    t.strictSame(slow.balancers(), [])
    await sweep(slow)
    await slow.clock.advance(61_000)
    t.equal(slow.balancers().length, 1)
  },
)

t.test('B33: a provider with one of the two interfaces does not end the process', async (t) => {
  for (const key of [INGRESS, SERVICE]) {
    const world = createWorld({
      provider: ({ name, loadBalancer, mcsLoadBalancer }) =>
        key.kind === 'MultiClusterIngress'
          ? { name, ...(loadBalancer && { loadBalancer }) }
          : { name, ...(mcsLoadBalancer && { mcsLoadBalancer }) },
    })
    await world.create(buildIngress())
    await world.create(buildService())
    await sweep(world)
    t.strictSame(
      world.balancers().map(({ kind }) => kind),
      [key.kind],
    )
    t.strictSame(
      world.logs.filter(({ level }) => level === 'error'),
      [],
    )
  }
})

t.test('B34: an absent list and an empty one make no write', async (t) => {
  const world = await served(INGRESS, { objects: [buildClass(), buildTemplate('web'), buildBinding('web')] })
  await world.edit(INGRESS, { status: { trafficBlockClusters: [] } }, 'status')
  world.requests.length = 0
  await tell(world, 'UPDATE', INGRESS)
  await sweep(world)
  t.strictSame(writes(world), [])
})

// ---- operability ----

t.test('D2: a type that was switched while nobody listened leaves no balancer and no finalizer', async (t) => {
  const type = { types: ['CrossCluster'] }
  for (const hear of [(world: World) => tell(world, 'CREATE', SERVICE), sweep]) {
    const world = createWorld({ objects: [...buildServiceWorld('game'), buildService({ metadata: HELD, spec: type })] })
    await hear(world)
    t.ok(changes(world).includes('ensureDeleted'))
    t.equal(world.read(SERVICE)?.metadata.finalizers, undefined)
  }
})

t.test('D3: a balancer that is gone already does not keep its object', async (t) => {
  const world = await served(SERVICE)
  const [call] = world.handed
  await world.cloud.ensureDeleted((call as ProviderCall).context)
  await world.edit(SERVICE, { spec: { types: ['CrossCluster'] } })
  await tell(world, 'UPDATE', SERVICE)
  t.equal(world.read(SERVICE)?.metadata.finalizers, undefined)
})

t.test('D6: no event is a broken format, and each names what it is about', async (t) => {
  const world = await served(SERVICE, {
    failure: ({ method }) => (method === 'ensureDeleted' ? { when: 'before', error: new Error('in use') } : undefined),
  })
  await world.remove(SERVICE)
  await tell(world, 'UPDATE', SERVICE)
  t.strictSame(world.events(), [
    'Normal EnsuredLoadBalancer: Ensured load balancer (192.0.2.1)',
    'Warning DeleteLoadBalancerFailed: MultiClusterService/shop/game: in use',
  ])
})

t.test('D7: no delete call without our finalizer, no retry of what is refused for good, and metrics', async (t) => {
  const leaving = { deletionTimestamp: '2026-03-01T08:00:00Z', finalizers: ['example.com/hold'] }
  const unheld = createWorld({ objects: [buildClass(), buildIngress({ metadata: leaving })] })
  await tell(unheld, 'UPDATE', INGRESS)
  await sweep(unheld)
  t.strictSame(unheld.handed, [])

  const refused = await served(INGRESS, {
    failure: ({ method }) => (method === 'ensure' ? { when: 'before', error: new Terminal('not here') } : undefined),
  })
  await refused.clock.advance(3_600_000)
  t.strictSame(changes(refused), ['ensure'])

  const waiting = await served(INGRESS, {
    failure: ({ method }) => (method === 'ensure' ? { when: 'before', error: new RetryAfter(30_000) } : undefined),
  })
  await waiting.clock.advance(28_000)
  t.strictSame(changes(waiting), ['ensure'], 'asked again when the provider said')
  await waiting.clock.advance(2_000)
  t.strictSame(changes(waiting), ['ensure', 'ensure'])

  const { body } = await refused.http('GET', '/metrics')
  t.match(body, /reconcile/)
})
