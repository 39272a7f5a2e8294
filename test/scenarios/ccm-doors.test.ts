import { randomUUID } from 'node:crypto'
import t from 'tap'
import { cloudChecks, controllerStates } from '../../src/compose/cloud-controllers.ts'
import { parseConfig } from '../../src/config/parse-config.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Operation } from '../../src/domain/cluster-event.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { CloudContext, CloudLoadBalancer, CloudProvider, EnsureContext } from '../../src/provider/cloud.ts'
import { createCloudRegistry } from '../../src/provider/cloud-registry.ts'
import { InstanceNotFound, NotImplemented } from '../../src/provider/errors.ts'
import { instanceProviderID } from '../../src/provider/instance-provider-id.ts'
import type { BalancerIdentity } from '../../src/provider/multicluster.ts'
import { createExampleCloud } from '../../src/providers/example/example-provider.ts'
import { createFakeClusterCloud } from '../../src/providers/fake/fake-cluster-cloud.ts'
import { createServiceReconciler } from '../../src/reconcilers/service/service-reconciler.ts'
import { buildNode, buildWeb, FINALIZER, OPTION, optionsOf, WEB } from '../support/build-cluster.ts'
import { createLeaseWorld } from '../support/lease-world.ts'
import { serviceDependencies } from '../support/service-dependencies.ts'
import { CLOUD_IDENTITY, createServiceWorld, type ServiceWorld } from '../support/service-world.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { addressesOf, assertQuiet, servedWorld, throughDoors, webOf } from '../support/through-doors.ts'

// What the API server and others send, and what the function is started with. The numbers are those of the cases.

interface ReviewOptions {
  object?: unknown
  oldObject?: unknown
  dryRun?: boolean
  username?: string
}

function review(
  operation: Operation,
  { object = null, oldObject = null, dryRun = false, username = 'somebody' }: ReviewOptions,
) {
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'review-1',
      kind: { group: '', version: 'v1', kind: 'Service' },
      resource: { group: '', version: 'v1', resource: 'services' },
      namespace: 'default',
      name: 'web',
      operation,
      userInfo: { username },
      object,
      oldObject,
      dryRun,
    },
  }
}

async function answer(world: ServiceWorld, door: 'mutate' | 'validate' | 'notify', body: object) {
  const { status, body: text } = await world.http(`/admission/${door}`, body)
  const { response } = JSON.parse(text) as {
    response?: { uid: string; allowed: boolean; patch?: string; status?: { message: string } }
  }
  return { ...response, status, refusal: response?.status?.message ?? '' }
}

t.test('C-133 a review of a deletion has no object', async (t) => {
  const world = await servedWorld()
  const before = webOf(world)
  t.match(await answer(world, 'notify', review('DELETE', { oldObject: before })), {
    status: 200,
    uid: 'review-1',
    allowed: true,
  })
  t.equal(world.runtime.queue.size(), 1)
  await world.clock.advance(20_000)
  t.same(world.changes(), [], 'nothing before the deletion can be seen')
  await world.core.delete({ group: '', version: 'v1', plural: 'services', namespace: 'default', name: 'web' }, USER)
  await world.clock.advance(10_000)
  t.same(world.changes(), ['delete web'])
  t.equal(webOf(world), undefined)
  t.match(await answer(world, 'notify', review('DELETE', {})), { status: 200, allowed: true })
  t.equal(world.runtime.queue.size(), 1, 'by name, where the object is not sent')
})

const USER = { user: { username: 'somebody', groups: [] } }

t.test('C-134 a dry run changes nothing', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1)] })
  for (const door of ['mutate', 'validate', 'notify'] as const) {
    const { status, allowed, patch } = await answer(world, door, review('CREATE', { object: buildWeb(), dryRun: true }))
    t.same([status, allowed, patch !== undefined], [200, true, door === 'mutate'], door)
  }
  await world.clock.advance(60_000)
  t.same([world.runtime.queue.size(), world.calls(), world.writes()], [0, [], []])
})

t.test('C-136 a deletion that was refused', async (t) => {
  const world = await servedWorld()
  await answer(world, 'notify', review('DELETE', { oldObject: webOf(world) }))
  await world.clock.advance(39_000)
  t.same(world.calls(), [], 'no call while it waits')
  await world.clock.advance(10_000)
  t.same(world.calls(), ['get web'], 'then it is looked at as what it is')
  t.same([addressesOf(world), webOf(world)?.metadata.finalizers], [['192.0.2.10'], [FINALIZER]])
})

t.test('C-137 any order, doubles and losses end in the same world', async (t) => {
  const steps = ['CREATE', 'ports', 'type', 'DELETE'] as const
  const orders = permutations([0, 1, 2, 3])
  for (const [index, order] of orders.entries()) {
    for (const until of [1, 2, 3, 4]) {
      const world = createServiceWorld({ door: 'sweep', objects: [buildNode(1)] })
      const told = order.filter((_, position) => ((index * 7 + position * 5) % 4) + position !== 3)
      const states: (KubernetesObject | undefined)[] = []
      for (const step of steps.slice(0, until)) {
        states.push(await play(world, step))
        if (index % 2 === 0) await deliver(world, steps, told.slice(0, 2), states)
      }
      await deliver(world, steps, [...told, ...told.slice(0, 1)], states)
      await world.clock.advance(50_000)
      await world.sweep()
      await world.clock.advance(10_000)
      const name = `${told.map((step) => steps[step]).join(' ')} of ${until}`
      t.same(addressesOf(world).length, until <= 2 ? 1 : 0, name)
      t.same(
        world.cluster.balancers.all().map(({ made }) => made.ports),
        BALANCED[until],
        name,
      )
      t.same(webOf(world)?.metadata.finalizers ?? [], until <= 2 ? [FINALIZER] : [], name)
      await assertQuiet(t, world)
    }
  }
})

const BALANCED: Record<number, string[][]> = { 1: [['TCP 80 → 30080']], 2: [['TCP 81 → 30081']], 3: [], 4: [] }

async function play(world: ServiceWorld, step: 'CREATE' | 'ports' | 'type' | 'DELETE') {
  if (step === 'CREATE') return world.create(buildWeb())
  const before = webOf(world)
  if (step === 'ports') return world.edit(WEB, { spec: { ports: [{ name: 'http', port: 81, nodePort: 30081 }] } })
  if (step === 'type') return world.edit(WEB, { spec: { type: 'ClusterIP' } })
  await world.remove(WEB)
  return before
}

async function deliver(
  world: ServiceWorld,
  steps: readonly string[],
  told: readonly number[],
  states: readonly (KubernetesObject | undefined)[],
) {
  for (const step of told) {
    const object = states[step]
    if (object === undefined) continue
    const name = steps[step]
    const operation: Operation = name === 'CREATE' || name === 'DELETE' ? name : 'UPDATE'
    const side = operation === 'DELETE' ? { oldObject: object } : { object }
    await world.runtime.doors.acceptEvent({
      source: 'cloudevent',
      operation,
      group: '',
      ...WEB,
      receivedAt: 0,
      ...side,
    })
    await world.clock.advance(700)
  }
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}

t.test('C-138 two instances, one Lease, one balancer', async (t) => {
  const leases = createLeaseWorld()
  const { clock, core, store } = leases
  core.preload([buildNode(1), buildWeb({}, { uid: 'U1' })] as never)
  const cluster = createFakeClusterCloud({ clock })
  const instance = (name: string) => {
    const { lock } = leases.join(name)
    const { loadBalancer } = cluster.balancers
    const slow: CloudLoadBalancer = {
      ...loadBalancer,
      async ensureLoadBalancer(...call) {
        const result = await loadBalancer.ensureLoadBalancer(...call)
        await new Promise<void>((resolve) => clock.after(1_000, resolve))
        return result
      },
    }
    return createServiceReconciler(serviceDependencies({ loadBalancer: slow, store, clock, lock }))
  }
  const pass = { reader: store, signal: new AbortController().signal }
  const first = instance('a')
  const second = instance('b')
  const outcomes: string[] = []
  const both = [first, second].map(
    async (reconciler) => void outcomes.push((await reconciler.reconcile(WEB, pass)).kind),
  )
  await clock.advance(10_000)
  await Promise.all(both)
  t.same(outcomes.sort(), ['ignored', 'later'], 'one marks the Lease and is done, the holder comes again')
  t.match(await first.reconcile(WEB, pass), { kind: 'settled' })
  t.equal(cluster.calls().filter(({ method }) => method === 'ensureLoadBalancer').length, 1)
  t.equal(cluster.balancers.bodies().length, 1)

  const { loadBalancer } = cluster.balancers
  const context = overlapping({ clusterId: 'default', ...WEB, uid: 'U1' })
  const service = buildWeb()
  await Promise.all([1, 2].map(() => loadBalancer.ensureLoadBalancer('kubernetes', service, [buildNode(1)], context)))
  t.equal(cluster.balancers.bodies().length, 1, 'calls that overlap all the same')
})

function overlapping(identity: BalancerIdentity): EnsureContext {
  const { signal } = new AbortController()
  const options = {}
  const shared = {
    signal,
    logger: silentLogger,
    clusterId: 'default',
    fence: '2',
    options,
    sourceRanges: ['0.0.0.0/0'],
  }
  return { ...shared, healthCheck: undefined, fingerprint: 'f.f', identity }
}

t.test('C-139 our own writes are no news, unless they ask for something', async (t) => {
  const world = await servedWorld({ door: 'reviews' })
  await world.clock.advance(10_000)
  t.same([world.calls(), world.runtime.queue.size()], [[], 0])
  const ours = { username: CLOUD_IDENTITY }
  await world.edit(WEB, { metadata: { finalizers: [FINALIZER, 'example.com/x'] } }, ours)
  await world.edit(WEB, { status: { loadBalancer: { ingress: null } } }, { ...ours, subresource: 'status' })
  await world.settle()
  t.same(world.calls(), [], 'finalizers and status')
  await world.edit(WEB, { metadata: { annotations: { 'example.com/a': '1' } } }, ours)
  await world.settle()
  t.same(world.changes(), ['ensure web [n1 n2]'], 'a foreign annotation')
})

t.test('C-141 nobody waits for the cloud', async (t) => {
  const world = createServiceWorld({
    door: 'reviews',
    objects: [buildNode(1)],
    around: (cloud) => ({
      ...cloud,
      async ensureLoadBalancer(...call) {
        await new Promise<void>((resolve) => world.clock.after(30_000, resolve))
        return cloud.ensureLoadBalancer(...call)
      },
    }),
  })
  const started = world.clock.now()
  await world.create(buildWeb())
  t.equal(world.clock.now(), started, 'the review is answered at once')
  await world.clock.advance(10_000)
  t.same(addressesOf(world), [])
  await world.clock.advance(25_000)
  t.same(addressesOf(world), ['192.0.2.10'])
})

t.test('C-142 the very first request is an update', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1), buildWeb({}, { uid: 'U1' })] })
  const before = webOf(world)
  await world.edit(WEB, { spec: { externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 } }, { silently: true })
  t.match(await answer(world, 'notify', review('UPDATE', { oldObject: before, object: webOf(world) })), {
    allowed: true,
  })
  await world.settle()
  t.same(addressesOf(world), ['192.0.2.10'])
  t.equal(world.events().length, 2)
})

t.test('C-143 Services are checked', async (t) => {
  const bad = { annotations: { [`${OPTION}idle-timeout`]: '9999' } }
  const leaving = { deletionTimestamp: '2026-03-01T08:00:00Z' }
  const relabelled = { ...bad, labels: { a: '1' } }
  const rows: { title: string; body: object; allowed: boolean; message?: RegExp }[] = [
    {
      title: '(a) another type',
      body: review('CREATE', { object: buildWeb({ type: 'NodePort' }, bad) }),
      allowed: true,
    },
    {
      title: '(b) a bad annotation',
      body: review('CREATE', { object: buildWeb({}, bad) }),
      allowed: false,
      message: /idle-timeout\]: Invalid value: "9999": must be a whole number from 1 to 4000/,
    },
    {
      title: '(c) the provider’s own word',
      body: review('CREATE', { object: buildWeb({}, { annotations: { [`${OPTION}algorithm`]: 'source-ip' } }) }),
      allowed: false,
      message: /the fake cloud balances by round-robin/,
    },
    {
      title: 'a protocol that is not supported',
      body: review('CREATE', { object: buildWeb({ ports: [{ port: 80, protocol: 'SCTP' }] }) }),
      allowed: false,
      message: /spec\.ports\[0\]\.protocol: Unsupported value: "SCTP"/,
    },
    {
      title: '(e) in deletion',
      body: review('UPDATE', { object: buildWeb({}, { ...bad, ...leaving }), oldObject: buildWeb() }),
      allowed: true,
    },
    {
      title: '(f) nothing that matters',
      body: review('UPDATE', { object: buildWeb({}, relabelled), oldObject: buildWeb({}, bad) }),
      allowed: true,
    },
    {
      title: 'an update that brings it',
      body: review('UPDATE', { object: buildWeb({}, bad), oldObject: buildWeb() }),
      allowed: false,
    },
    { title: '(g) a deletion', body: review('DELETE', { oldObject: buildWeb({}, bad) }), allowed: true },
    {
      title: 'another class',
      body: review('CREATE', { object: buildWeb({ loadBalancerClass: 'a.b/c' }, bad) }),
      allowed: true,
    },
    {
      title: 'a Service of wrong types',
      body: review('CREATE', { object: { ...buildWeb(), spec: 7 } }),
      allowed: true,
    },
    {
      title: 'ports of wrong types',
      body: review('CREATE', { object: buildWeb({ ports: 'x' as never }) }),
      allowed: true,
    },
  ]
  const world = createServiceWorld({ objects: [buildNode(1)] })
  for (const { title, body, allowed, message } of rows) {
    const said = await answer(world, 'validate', body)
    t.same([said.status, said.allowed], [200, allowed], title)
    if (message !== undefined) t.match(said.refusal, message, title)
  }
  t.same(world.calls(), [])

  const throwing = createServiceWorld({
    around: (cloud) => ({
      ...cloud,
      validate: () => {
        throw new Error('a bug')
      },
    }),
  })
  t.match(await answer(throwing, 'validate', review('CREATE', { object: buildWeb() })), { allowed: true }, '(d) throws')
  const silent = createServiceWorld({ around: ({ validate: _, ...cloud }) => cloud })
  t.match(await answer(silent, 'validate', review('CREATE', { object: buildWeb() })), { allowed: true }, '(d) absent')
})

t.test('the finalizer is there before the first look, where it is certain', async (t) => {
  const world = createServiceWorld()
  const patched = async (operation: Operation, object: unknown, oldObject?: unknown) => {
    const { patch } = await answer(world, 'mutate', review(operation, { object, oldObject }))
    return patch !== undefined && Buffer.from(patch, 'base64').toString().includes(FINALIZER)
  }
  t.ok(await patched('CREATE', buildWeb()))
  t.notOk(await patched('CREATE', buildWeb({ loadBalancerClass: 'a.b/c' })))
  t.notOk(await patched('CREATE', buildWeb({ type: 'ClusterIP' })))
  t.notOk(await patched('UPDATE', buildWeb({}, { labels: { a: '1' } }), buildWeb()))
  t.notOk(await patched('CREATE', { ...buildWeb(), spec: null }))
})

t.test('C-144 an annotation that is no text', async (t) => {
  const world = createServiceWorld()
  const object = {
    ...buildWeb(),
    metadata: { name: 'web', namespace: 'default', annotations: { [`${OPTION}internal`]: true } },
  }
  for (const door of ['validate', 'notify'] as const) {
    const { status, body } = await world.http(`/admission/${door}`, review('CREATE', { object }))
    t.equal(status, 400, `${door}: told, not thrown`)
    t.match(body, /annotations/)
  }
  t.equal(world.runtime.queue.size(), 0)
})

t.test('C-146 without the right to patch services/status nothing is made', async (t) => {
  let forbidden = true
  const world = createServiceWorld({
    objects: [buildNode(1)],
    wrapStore: (store) => ({
      ...store,
      async patch(key, patch, options) {
        if (forbidden)
          throw new CatalogueError('ApiForbidden', 'cannot patch resource "services/status" in API group ""')
        return store.patch(key, patch, options)
      },
    }),
  })
  await world.create(buildWeb())
  await world.settle()
  t.same(world.changes(), [])
  t.match(
    world.events().at(-1),
    /failed to add load balancer cleanup finalizer: cannot patch resource "services\/status"/,
  )
  forbidden = false
  await world.clock.advance(5_000)
  t.same(addressesOf(world), ['192.0.2.10'])
})

const settingsOf = (cloud: object) => {
  const text = JSON.stringify({ provider: { name: 'fake' }, kubernetes: { kubeconfig: 'x' }, cloud })
  const { config, faults } = parseConfig(text, {})
  if (config === undefined) throw new Error(JSON.stringify(faults))
  return config
}

t.test('C-147 a cloud that is not marked with the cluster', async (t) => {
  const world = createServiceWorld({ hasClusterID: false, objects: [buildNode(1)] })
  await world.create(buildWeb())
  await world.settle()
  t.same([world.calls(), world.writes()], [[], []])
  const { ready, checks } = await world.runtime.doors.readiness()
  t.notOk(ready)
  t.match(
    checks.find(({ name }) => name === 'cluster-id'),
    { ok: false, message: /cloud\.allowUntaggedCloud: true/ },
  )

  const config = 'cloud: { controllers: [service], allowUntaggedCloud: true }'
  const allowed = createServiceWorld({ hasClusterID: false, config, objects: [buildNode(1)] })
  await allowed.create(buildWeb())
  await allowed.settle()
  t.same(addressesOf(allowed), ['192.0.2.10'])
  t.ok((await allowed.runtime.doors.readiness()).ready)
})

throughDoors('C-148 a provider without capabilities', async (t, door) => {
  const config = 'cloud: { allowUntaggedCloud: true, clusterCidr: 10.244.0.0/16 }'
  const world = createServiceWorld({ door, config, cloudProvider: createExampleCloud() })
  await world.create(buildWeb())
  await world.create(buildNode(1))
  await world.settle()
  await world.sweep()
  t.same([world.calls(), world.writes(), world.events()], [[], [], []])
  const { ready, checks } = await world.runtime.doors.readiness()
  t.ok(ready)
  const { message } = checks.find(({ name }) => name === 'controllers') ?? {}
  for (const lacking of ['external load balancers', 'instances', 'routes']) t.match(message, new RegExp(lacking))
})

t.test('C-149 registration of clouds', async (t) => {
  const registry = createCloudRegistry()
  const { cloudProvider } = createFakeClusterCloud({ clock: { now: () => 0, after: () => () => {} } })
  const given: unknown[] = []
  registry.registerCloudProvider('fake', ({ options }) => {
    given.push(options)
    return cloudProvider
  })
  const setup = {
    options: undefined,
    fault: () => {},
    logger: silentLogger,
    clock: { now: () => 0, after: () => () => {} },
  }
  t.throws(() => registry.registerCloudProvider('fake', () => cloudProvider), /"fake" was registered twice/)
  t.throws(() => registry.initCloudProvider('nope', setup), { message: 'unknown cloud provider "nope"' })
  t.equal(registry.initCloudProvider('external', setup), undefined)
  t.equal(registry.initCloudProvider('', setup), undefined)
  t.equal(registry.getCloudProvider('nope', setup), undefined)
  t.equal(registry.initCloudProvider('fake', setup), cloudProvider)
  t.ok(registry.isCloudProvider('fake'))
  registry.registerCloudProvider('broken', () => {
    throw new Error('no credentials')
  })
  t.throws(() => registry.initCloudProvider('broken', setup), {
    message: 'could not init cloud provider "broken": no credentials',
  })
  t.match(registry.factories()['fake']?.({ ...setup, options: {} }), { name: 'fake', cloudProvider })
  t.same(given, [undefined, undefined], 'without configuration there are no options')
  const { faults } = parseConfig(JSON.stringify({ provider: { name: '' }, kubernetes: { kubeconfig: 'x' } }), {})
  t.match(faults, [{ field: 'provider.name', message: '--cloud-provider cannot be empty' }])
})

t.test('which controllers run', async (t) => {
  const { cloudProvider } = createFakeClusterCloud({ clock: { now: () => 0, after: () => () => {} } })
  const running = (controllers: string[]) =>
    Object.entries(controllerStates(cloudProvider, settingsOf({ controllers, clusterCidr: '10.244.0.0/16' })))
      .filter(([, { runs }]) => runs)
      .map(([name]) => name)
  const all = [
    'service-lb-controller',
    'cloud-node-controller',
    'cloud-node-lifecycle-controller',
    'node-route-controller',
  ]
  t.same(running(['*']), all)
  t.same(running(['service']), ['service-lb-controller'])
  t.same(running(['-route', '*']), all.slice(0, 3))
  t.same(running(['cloud-node', '-cloud-node']), ['cloud-node-controller'], 'the first that speaks of it decides')
  t.same(running([]), [])
  t.match(cloudChecks(cloudProvider, settingsOf({ controllers: ['*', '-service'], clusterCidr: '10.244.0.0/16' })), [
    { name: 'cluster-id', ok: true },
    { name: 'controllers', ok: true, message: /service-lb-controller \(not in cloud\.controllers\)/ },
  ])
  const text = JSON.stringify({
    provider: { name: 'fake' },
    kubernetes: { kubeconfig: 'x' },
    cloud: { controllers: ['nodes'] },
  })
  t.match(parseConfig(text, {}).faults, [{ field: 'cloud.controllers.0' }])
})

t.test('the providerID of an instance', async (t) => {
  const context: CloudContext = { signal: new AbortController().signal, logger: silentLogger, clusterId: 'default' }
  const answering = (instanceID: () => Promise<string>): CloudProvider => ({
    ...createExampleCloud(),
    instances: () => ({ instanceID }) as never,
  })
  t.equal(
    await instanceProviderID(
      answering(async () => 'i-1'),
      'n1',
      context,
    ),
    'example://i-1',
  )
  for (const error of [new InstanceNotFound(), new NotImplemented()]) {
    await t.rejects(
      instanceProviderID(
        answering(() => Promise.reject(error)),
        'n1',
        context,
      ),
      error,
    )
  }
  const broken = answering(() => Promise.reject(new Error('quota')))
  await t.rejects(instanceProviderID(broken, 'n1', context), {
    message: 'failed to get instance ID from cloud provider: quota',
  })
  await t.rejects(
    instanceProviderID(createExampleCloud(), 'n1', context),
    new NotImplemented('failed to get instances from cloud provider'),
  )
})

throughDoors('a provider that stores no fingerprint makes no noise', async (t, door) => {
  const forgetful = await servedWorld({
    door,
    around: (cloud) => ({
      ...cloud,
      async getLoadBalancer(...call) {
        const record = await cloud.getLoadBalancer(...call)
        return record?.status && { status: record.status }
      },
    }),
  })
  await forgetful.sweep()
  await forgetful.sweep()
  t.same([forgetful.writes(), forgetful.events()], [[], []])
  t.ok(forgetful.changes().includes('ensure web [n1 n2]'), 'though it is called each time')
  await forgetful.edit(WEB, optionsOf({ algorithm: 'least-connections' }))
  await forgetful.settle()
  t.same(forgetful.events(), ['Normal EnsuredLoadBalancer: Ensured load balancer'])
})

t.test('a create whose outcome is unknown is looked for before the finalizer goes', async (t) => {
  let lost = true
  const world = createServiceWorld({
    objects: [buildNode(1)],
    around: (cloud) => ({
      ...cloud,
      consistencyWindowMs: 30_000,
      async ensureLoadBalancer(...call) {
        if (lost) throw new Error('connection reset')
        return cloud.ensureLoadBalancer(...call)
      },
    }),
  })
  await world.create(buildWeb())
  await world.settle()
  await world.remove(WEB)
  await world.clock.advance(10_000)
  t.same(webOf(world)?.metadata.finalizers, [FINALIZER])
  lost = false
  // As long as somebody may have waited for the call, and the window after that.
  await world.clock.advance(100_000)
  t.equal(webOf(world), undefined)
})

t.test('ids of reviews are echoed', async (t) => {
  const world = createServiceWorld()
  const body = review('CREATE', { object: buildWeb() })
  const uid = randomUUID()
  t.match(await answer(world, 'notify', { ...body, request: { ...body.request, uid } }), { uid, allowed: true })
})
