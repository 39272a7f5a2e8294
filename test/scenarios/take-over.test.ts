import t from 'tap'
import { letGo } from '../../src/compose/drain-objects.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import { karmadasWebhooks, ourWebhooks } from '../support/api-callers.ts'
import type { GivenBalancer } from '../support/around-provider.ts'
import {
  buildClass,
  buildCluster,
  buildIngress,
  buildService,
  buildServiceWorld,
  FINALIZER,
} from '../support/build-objects.ts'
import { tell } from '../support/karmada-story.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { CLUSTER_ID, createWorld, IDENTITY, type World, type WorldOptions } from '../support/world.ts'

// From the Go manager to us, and back; two providers side by side; and hands that meddle.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const
const KEYS = [INGRESS, SERVICE] as const
const GO = {
  MultiClusterIngress: 'karmada.io/multi-cluster-ingress-controller',
  MultiClusterService: 'karmada.io/multi-cluster-service-controller',
} as const
const ADDRESS = { ingress: [{ ip: '203.0.113.7' }] }
const LEAVING = { deletionTimestamp: '2026-03-01T08:00:00Z' }
const OWNED = { kind: 'Service', apiVersion: 'v1', controller: true, blockOwnerDeletion: true }
/** No class of ours, and no type. */
const NOT_OURS = { ...buildIngress().spec, ingressClassName: '', types: ['CrossCluster'] }
const CRD_POLICY = { kind: 'ClusterPropagationPolicy', namespace: '', name: 'serviceexportpropagation-policy' } as const

const uidOf = ({ name }: ObjectKey) => `00000000-0000-4000-8000-00000000${name === 'game' ? '9001' : '9002'}`

/** What the Go manager leaves on a control plane: its finalizers, addresses, exports and policies. */
function leftByTheGoManager(changes: { metadata?: object; spec?: object } = {}): KubernetesObject[] {
  const metadata = (key: (typeof KEYS)[number]) => ({
    uid: uidOf(key),
    finalizers: [GO[key.kind]],
    ...changes.metadata,
  })
  const services = [buildServiceWorld('web'), buildServiceWorld('game')].flat()
  return [
    buildClass(),
    buildCluster('edge-a'),
    buildCluster('edge-b'),
    ...services,
    ...['web', 'game'].flatMap(exportAndPolicy),
    crdPolicy(),
    {
      ...buildIngress({ metadata: metadata(INGRESS) }),
      status: { loadBalancer: ADDRESS, serviceLocations: [{ name: 'web', clusters: ['edge-a', 'edge-b'] }] },
      ...changes.spec,
    } as KubernetesObject,
    {
      ...buildService({ metadata: metadata(SERVICE) }),
      status: { loadBalancer: ADDRESS },
      ...changes.spec,
    } as KubernetesObject,
  ]
}

function exportAndPolicy(name: string): KubernetesObject[] {
  const owner = { ownerReferences: [{ ...OWNED, name, uid: `uid-${name}` }] }
  const selector = { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', namespace: 'shop', name }
  return [
    {
      apiVersion: 'multicluster.x-k8s.io/v1alpha1',
      kind: 'ServiceExport',
      metadata: { name, namespace: 'shop', ...owner },
    },
    {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'PropagationPolicy',
      metadata: { name: `propagate-service-${name}`, namespace: 'shop', ...owner },
      spec: {
        resourceSelectors: [selector],
        placement: { clusterAffinity: { clusterNames: ['edge-a', 'edge-b'] } },
      },
    } as KubernetesObject,
  ]
}

function crdPolicy(): KubernetesObject {
  const toleration = (key: string) => ({ key: `cluster.karmada.io/${key}`, operator: 'Exists', effect: 'NoExecute' })
  const selector = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    name: 'serviceexports.multicluster.x-k8s.io',
  }
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: CRD_POLICY.name },
    spec: {
      resourceSelectors: [selector],
      placement: {
        clusterAffinity: { clusterNames: ['edge-a', 'edge-b'] },
        clusterTolerations: [toleration('not-ready'), toleration('unreachable')],
      },
    },
  } as KubernetesObject
}

const known = (): GivenBalancer[] =>
  KEYS.map((key) => ({ identity: { clusterId: CLUSTER_ID, ...key, uid: uidOf(key) }, status: ADDRESS }))

const takingOver = (options: WorldOptions): World => createWorld({ config: 'takeOver: true', ...options })

async function sweep(world: World): Promise<void> {
  await world.http('POST', '/sweep')
  await world.clock.advance(1_000)
}

const changes = (world: World) => world.calls().filter((method) => method !== 'get')
const finalizersOf = (world: World, key: (typeof KEYS)[number]) => world.read(key)?.metadata.finalizers
const addressOf = (world: World, key: (typeof KEYS)[number]) => world.read(key)?.status?.loadBalancer

function propagationOf({ core }: World) {
  return [
    { group: 'multicluster.x-k8s.io', version: 'v1alpha1', plural: 'serviceexports' },
    { group: 'policy.karmada.io', version: 'v1alpha1', plural: 'propagationpolicies' },
  ].flatMap((target) => core.list(target).items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`))
}

t.test(
  'what the provider knows is taken over as it is: nothing is made again, and no moment is without finalizer',
  async (t) => {
    const seen: (string[] | undefined)[] = []
    const world: World = takingOver({
      objects: leftByTheGoManager(),
      balancers: known(),
      wrapStore: (store) => ({
        ...store,
        async patch(key, patch, options) {
          const stored = await store.patch(key, patch, options)
          if (key.kind === 'MultiClusterIngress') seen.push(stored.metadata.finalizers)
          return stored
        },
      }),
    })
    const before = propagationOf(world)
    await sweep(world)
    for (const key of KEYS) {
      t.strictSame(finalizersOf(world, key), [FINALIZER])
      t.strictSame(addressOf(world, key), ADDRESS)
    }
    t.ok(seen.every((finalizers) => finalizers?.length === 1))
    t.strictSame(changes(world), ['update', 'update'])
    t.strictSame(propagationOf(world), before, 'exports and policies stay the same objects')
    t.match(world.read(CRD_POLICY)?.metadata.labels, { 'app.kubernetes.io/managed-by': 'webhook-cloud-provider' })
    const revision = world.core.resourceVersion()
    await sweep(world)
    t.equal(world.core.resourceVersion(), revision, 'and then it is quiet')
  },
)

t.test('what the provider does not know is left to the Go manager: a second balancer would be made', async (t) => {
  const world = takingOver({ objects: leftByTheGoManager() })
  const versions = () => KEYS.map((key) => world.read(key)?.metadata.resourceVersion)
  const before = versions()
  await sweep(world)
  t.strictSame(versions(), before)
  t.strictSame(changes(world), [])
  t.ok(world.logs.some(({ fields }) => /does not know the balancer/.test(JSON.stringify(fields))))
})

t.test('without taking over nothing of the Go manager is touched, whatever becomes of it', async (t) => {
  for (const objects of [
    leftByTheGoManager(),
    leftByTheGoManager({ metadata: LEAVING }),
    leftByTheGoManager({ spec: { spec: NOT_OURS } }),
  ]) {
    const world = createWorld({ objects, balancers: known() })
    const before = propagationOf(world)
    await sweep(world)
    t.strictSame(changes(world), [])
    for (const key of KEYS) t.strictSame(finalizersOf(world, key), [GO[key.kind]])
    t.strictSame(propagationOf(world), before)
  }
})

t.test('what leaves while it is taken over is cleaned up, under the name that holds it', async (t) => {
  const leaving = takingOver({ objects: leftByTheGoManager({ metadata: LEAVING }), balancers: known() })
  await sweep(leaving)
  for (const key of KEYS) t.equal(leaving.read(key), undefined)
  t.strictSame(leaving.balancers(), [])

  const spec = { spec: NOT_OURS }
  const taken = takingOver({ objects: leftByTheGoManager({ spec }), balancers: known() })
  await sweep(taken)
  for (const key of KEYS) {
    t.equal(finalizersOf(taken, key), undefined)
    t.equal(addressOf(taken, key), undefined)
  }
  t.strictSame(taken.balancers(), [])
})

t.test('taking over goes on where it was interrupted', async (t) => {
  for (let survived = 0; survived < 6; survived += 1) {
    let left = survived
    let alive = false
    const world = takingOver({
      objects: leftByTheGoManager(),
      balancers: known(),
      wrapStore: (store) => ({
        ...store,
        async patch(...call) {
          if (!alive && left === 0) throw new Error('killed')
          left -= 1
          return store.patch(...call)
        },
      }),
    })
    await sweep(world)
    alive = true
    await world.clock.advance(600_000)
    await sweep(world)
    for (const key of KEYS) t.strictSame(finalizersOf(world, key), [FINALIZER], `killed at write ${survived + 1}`)
    t.notOk(changes(world).includes('ensure'))
  }
})

// ---- the way back ----

/** Served by us, as after any day. */
async function servedWorld(options: WorldOptions = {}): Promise<World> {
  const world = createWorld(options)
  await world.create(buildIngress())
  await world.create(buildService())
  await sweep(world)
  return world
}

async function drain(world: World, keepBalancers: boolean, store = world.store) {
  const lines: string[] = []
  const settings = { config: world.config, provider: world.provider, logger: silentLogger }
  const options = {
    keepBalancers,
    dryRun: false,
    report: (line: string) => void lines.push(line),
    signal: new AbortController().signal,
  }
  const { left } = await letGo(store, settings, world.clock, options)
  return { left, lines }
}

t.test('drain keeping balancers: the Go manager finds them as if they had always been its own', async (t) => {
  const world = await servedWorld()
  const balancers = world.balancers()
  const addresses = KEYS.map((key) => addressOf(world, key))
  const calls = world.calls().length
  t.strictSame(await drain(world, true), {
    left: 0,
    lines: KEYS.map(({ kind, name }) => `${kind}/shop/${name}: handed over`),
  })
  for (const key of KEYS) t.strictSame(finalizersOf(world, key), [GO[key.kind]])
  t.strictSame(world.balancers(), balancers)
  t.strictSame(
    KEYS.map((key) => addressOf(world, key)),
    addresses,
  )
  t.equal(world.calls().length, calls, 'the cloud hears nothing')
  const revision = world.core.resourceVersion()
  t.strictSame(await drain(world, true), { left: 0, lines: [] }, 'once more: nothing to do')
  t.equal(world.core.resourceVersion(), revision)
})

t.test(
  'drain: balancers, addresses and finalizers go, exports and policies after them, and nothing else',
  async (t) => {
    const world = await servedWorld()
    t.equal(propagationOf(world).length, 4, 'two exports, two policies')
    t.match(await drain(world, false), { left: 0 })
    for (const key of KEYS) {
      t.equal(finalizersOf(world, key), undefined)
      t.equal(addressOf(world, key), undefined)
      t.ok(world.read(key))
    }
    t.strictSame(world.balancers(), [])
    t.strictSame(propagationOf(world), [])
    t.strictSame(await drain(world, false), { left: 0, lines: [] })
  },
)

t.test(
  'drain: exports of others stay, and with them the policy that takes their definition to the clusters',
  async (t) => {
    for (const others of [[], [exportOf('theirs')]]) {
      const world = await servedWorld({
        objects: [buildClass(), buildCluster('edge-a'), ...buildServiceWorld('game'), ...others],
      })
      t.ok(world.read(CRD_POLICY), 'it is there')
      t.match(await drain(world, false), { left: 0 })
      t.strictSame(
        propagationOf(world).map((name) => name.split(' ')[0]),
        others.map(({ metadata }) => metadata.name),
      )
      t.equal(world.read(CRD_POLICY) !== undefined, others.length > 0)
    }
  },
)

function exportOf(name: string): KubernetesObject {
  return { apiVersion: 'multicluster.x-k8s.io/v1alpha1', kind: 'ServiceExport', metadata: { name, namespace: 'shop' } }
}

t.test('drain waits for a create that the function has noted as unknown', async (t) => {
  let isLost = true
  const world = createWorld({
    config: 'lock: lease\nlease: { namespace: shop }',
    provider: (fake) => ({ ...fake, consistencyWindowMs: 30_000 }),
    failure: ({ method }) =>
      isLost && method === 'ensure' ? { when: 'before', error: new Error('connection reset') } : undefined,
  })
  await world.create(buildIngress())
  await tell(world, 'sweep', [])
  isLost = false
  const { left, lines } = await drain(world, false)
  t.equal(left, 1)
  t.match(lines, [/stays: a create whose outcome is unknown may still bring a balancer/])
  await world.clock.advance(60_000)
})

t.test('what is in deletion is cleaned up by either drain: nobody can put a new finalizer on it', async (t) => {
  for (const keepBalancers of [true, false]) {
    const world = await servedWorld()
    await world.remove(INGRESS)
    t.match(await drain(world, keepBalancers), { left: 0 })
    t.equal(world.read(INGRESS), undefined)
    t.strictSame(
      world.balancers().map(({ kind }) => kind),
      keepBalancers ? ['MultiClusterService'] : [],
    )
  }
})

t.test('a drain that is interrupted says what stays, and is taken up again', async (t) => {
  for (const keepBalancers of [true, false]) {
    let failing = false
    const world = await servedWorld({
      failure: ({ method, identity }) =>
        failing && method === 'ensureDeleted' && identity.kind === 'MultiClusterIngress'
          ? { when: 'before', error: new Error('in use') }
          : undefined,
    })
    failing = true
    const store: World['store'] = {
      ...world.store,
      async patch(key, patch, options) {
        if (failing && keepBalancers && key.kind === 'MultiClusterIngress')
          throw new CatalogueError('Conflict', 'the object has been modified')
        return world.store.patch(key, patch, options)
      },
    }
    const first = await drain(world, keepBalancers, store)
    t.equal(first.left, 1)
    t.match(first.lines[0], /^MultiClusterIngress\/shop\/storefront: stays: /)
    t.strictSame(finalizersOf(world, INGRESS), [FINALIZER])
    failing = false
    t.match(await drain(world, keepBalancers, store), { left: 0 })
    t.strictSame(finalizersOf(world, INGRESS), keepBalancers ? [GO.MultiClusterIngress] : undefined)
  }
})

t.test('there and back: the same balancers under the same addresses', async (t) => {
  const world = takingOver({ objects: leftByTheGoManager(), balancers: known() })
  await sweep(world)
  await drain(world, true)
  for (const key of KEYS) {
    t.strictSame(finalizersOf(world, key), [GO[key.kind]])
    t.strictSame(addressOf(world, key), ADDRESS)
  }
  t.strictSame(changes(world), ['update', 'update'])
})

// ---- side by side ----

t.test('two providers with classes and selectors of their own serve side by side, and hand over', async (t) => {
  const other = 'webhook-cloud-provider.dev/other'
  const selects = (provider: string) => `multiClusterServices: { selector: { matchLabels: { provider: ${provider} } } }`
  const theirs = buildClass({ metadata: { name: 'theirs' }, spec: { controller: 'example.com/b' } })
  const first = createWorld({
    objects: [buildClass(), theirs, ...buildServiceWorld('web'), ...buildServiceWorld('game')],
    config: selects('first'),
  })
  const second = createWorld({
    beside: first,
    classNames: ['theirs'],
    ingressClass: 'controller: example.com/b',
    config: `finalizer: ${other}\n${selects('second')}`,
  })
  const both = async () => {
    for (const world of [first, second, first, second]) await sweep(world)
  }
  await first.create(buildIngress())
  await first.create(
    buildIngress({ metadata: { name: 'second' }, spec: { ...buildIngress().spec, ingressClassName: 'theirs' } }),
  )
  await first.create(buildService({ metadata: { labels: { provider: 'second' } } }))
  await both()
  const names = ({ balancers }: World) => balancers().map(({ name }) => name)
  t.strictSame([names(first), names(second)], [['storefront'], ['second', 'game']])

  await first.edit(INGRESS, { spec: { ingressClassName: 'theirs' } })
  await first.edit(SERVICE, { metadata: { labels: { provider: 'first' } } })
  await both()
  t.strictSame([names(first), names(second).toSorted()], [['game'], ['second', 'storefront']])
  t.strictSame(finalizersOf(first, INGRESS), [other])
  t.strictSame(finalizersOf(first, SERVICE), [FINALIZER])
  t.match(addressOf(first, INGRESS), { ingress: [{}] })

  await first.remove(INGRESS)
  await first.remove(SERVICE)
  await both()
  t.strictSame([names(first), names(second)], [[], ['second']])
  t.notOk([...first.handed, ...second.handed].some(({ context }) => context.identity.uid === ''))
})

// ---- hands that meddle ----

t.test('a finalizer that is stripped from a living object comes back, and its balancer stays', async (t) => {
  const world = await servedWorld()
  await world.edit(INGRESS, { metadata: { finalizers: null } })
  await sweep(world)
  t.strictSame(finalizersOf(world, INGRESS), [FINALIZER])
  t.equal(changes(world).filter((method) => method === 'ensure').length, 2, 'the two of the beginning')
})

t.test('a namespace that goes takes its objects along, each with its balancer', async (t) => {
  const world = await servedWorld({ webhooks: ourWebhooks(FINALIZER, IDENTITY) })
  const target = { group: '', version: 'v1', plural: 'namespaces', name: 'shop' }
  await world.core.delete(target, { user: { username: 'somebody', groups: [] } })
  await world.clock.advance(30_000)
  await world.core.idle()
  t.strictSame(world.balancers(), [])
  for (const key of KEYS) t.equal(world.read(key), undefined)
  t.throws(() => world.core.get(target), 'the namespace is gone')
})

t.test('while Karmada’s webhooks are down nothing is claimed, made or let go of; then once', async (t) => {
  let down = true
  const world = createWorld({ webhooks: karmadasWebhooks(), karmadaIsDown: () => down })
  down = false
  await world.create(buildIngress())
  await world.create(buildService())
  down = true
  await sweep(world)
  await world.clock.advance(60_000)
  t.strictSame(changes(world), [], 'no balancer without a finalizer')
  t.equal(world.runtime.queue.size(), 2, 'but it is tried again')
  down = false
  await world.clock.advance(300_000)
  t.equal(world.balancers().length, 2)
  t.strictSame(changes(world), ['ensure', 'ensure'])

  for (const key of KEYS) await world.remove(key)
  down = true
  await sweep(world)
  for (const key of KEYS) t.strictSame(finalizersOf(world, key), [FINALIZER], 'the release waits')
  down = false
  await world.clock.advance(300_000)
  for (const key of KEYS) t.equal(world.read(key), undefined)
  t.equal(changes(world).filter((method) => method === 'ensure').length, 2, 'and nothing was made again')
})
