import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import { type Kind, RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import {
  ImplementedElsewhere,
  InstanceNotFound,
  NotImplemented,
  RetryAfter,
  Terminal,
} from '../../src/provider/errors.ts'
import type { MultiClusterProvider, ProviderContext } from '../../src/provider/multicluster.ts'
import { aroundProvider } from '../support/around-provider.ts'
import {
  buildClass,
  buildCluster,
  buildIngress,
  buildService,
  buildServiceWorld,
  buildSlice,
  DEFAULT_CLASS,
} from '../support/build-objects.ts'
import { createWorld, FINALIZER, IDENTITY, type World } from '../support/world.ts'

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SERVICE = { kind: 'MultiClusterService', namespace: 'shop', name: 'game' } as const

/** Tells the function of a change as the API server does. */
async function notify(
  world: World,
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  key: ObjectKey,
  objects: { object?: KubernetesObject; oldObject?: KubernetesObject } = {},
  username = 'somebody',
) {
  return world.runtime.doors.acceptEvent({
    source: 'admission',
    operation,
    group: 'networking.karmada.io',
    kind: key.kind,
    namespace: key.namespace,
    name: key.name,
    username,
    receivedAt: world.clock.now(),
    ...objects,
  })
}

async function tell(
  world: World,
  operation: 'CREATE' | 'UPDATE' | 'DELETE',
  key: ObjectKey,
  oldObject?: KubernetesObject,
) {
  await world.runtime.doors.acceptEvent({
    source: 'cloudevent',
    operation,
    group: 'networking.karmada.io',
    kind: key.kind,
    namespace: key.namespace,
    name: key.name,
    receivedAt: world.clock.now(),
    ...(oldObject === undefined ? {} : { oldObject }),
  })
  await world.clock.advance(100)
}

const noAbort = () => new AbortController().signal
const sweep = (world: World, scope: 'all' | 'pending' = 'all') => world.runtime.doors.sweep({ scope }, noAbort())

for (const { title, key, object } of [
  { title: 'an ingress', key: INGRESS, object: buildIngress() },
  { title: 'a service', key: SERVICE, object: buildService() },
]) {
  t.test(`${title} is served, changed, left alone and deleted`, async (t) => {
    const world = createWorld()
    await world.create(object)
    await notify(world, 'CREATE', key, { object })
    await world.clock.advance(60)
    const served = world.read(key)
    t.match(served, {
      metadata: { finalizers: [FINALIZER] },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } },
    })
    t.same(world.calls(), ['get', 'ensure'])
    t.same(world.events(), ['Normal EnsuredLoadBalancer: Ensured load balancer (192.0.2.1)'])

    world.requests.length = 0
    await sweep(world)
    t.notOk(
      world.requests.some((request) => /create|patch/.test(request)),
      'a quiet sweep writes nothing',
    )
    t.equal(world.calls().filter((call) => call !== 'get').length, 1, 'and changes nothing in the cloud')

    await world.edit(key, { metadata: { annotations: { 'example.com/weight': '3' } } })
    await tell(world, 'UPDATE', key)
    t.equal(world.calls().at(-1), 'update')
    t.same(world.events().at(-1), 'Normal UpdatedLoadBalancer: Updated load balancer (192.0.2.1)')

    const before = world.read(key)
    await world.remove(key)
    await notify(world, 'DELETE', key, { oldObject: before as KubernetesObject })
    await world.clock.advance(60)
    t.equal(world.read(key), undefined)
    t.same(world.cloud.balancers(), [])
    t.ok(world.events().includes('Normal DeletedLoadBalancer: Deleted load balancer'))
  })
}

t.test('writes are counted: 2 with the finalizer from the review, 3 without, 0 for nothing', async (t) => {
  const writes = (world: World) => world.requests.filter((request) => /create|patch/.test(request))
  const config = 'propagation: { enabled: false }'
  const claimed = createWorld({ config })
  await claimed.create(buildIngress({ metadata: { finalizers: [FINALIZER] } }))
  await tell(claimed, 'CREATE', INGRESS)
  t.same(writes(claimed), ['patch MultiClusterIngress/status', 'create Event'])
  t.equal(
    claimed.requests.filter((request) => request.startsWith('get')).length,
    5,
    'object, class, Service, binding, and the object under the lock; the status write is the look afterwards',
  )

  const unclaimed = createWorld({ config })
  await unclaimed.create(buildIngress())
  await tell(unclaimed, 'CREATE', INGRESS)
  t.same(writes(unclaimed), ['patch MultiClusterIngress', 'patch MultiClusterIngress/status', 'create Event'])

  unclaimed.requests.length = 0
  await tell(unclaimed, 'UPDATE', INGRESS)
  t.same(writes(unclaimed), [])
})

t.test('a provider without fingerprints is called each time, and nothing is written for it', async (t) => {
  const world = createWorld({
    provider: (fake) => ({
      ...fake,
      loadBalancer: {
        ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
        async getLoadBalancer(ingress, context) {
          const record = await fake.loadBalancer?.getLoadBalancer(ingress, context)
          return record?.status === undefined ? undefined : { status: record.status }
        },
        async listLoadBalancers(context) {
          const listed = (await fake.loadBalancer?.listLoadBalancers?.(context)) ?? []
          return listed.map(({ record, ...identity }) => ({ ...identity, record: { status: record?.status ?? {} } }))
        },
      },
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  world.requests.length = 0
  await sweep(world)
  t.equal(world.calls().at(-1), 'update')
  t.notOk(world.requests.some((request) => /create|patch/.test(request)))
})

t.test('with every notify dropped one sweep converges; the pending sweep looks at the unfinished only', async (t) => {
  const world = createWorld({ config: 'propagation: { enabled: false }' })
  for (let index = 0; index < 5; index += 1) await world.create(buildIngress({ metadata: { name: `web-${index}` } }))
  await world.create(buildService())
  t.match(await sweep(world), { listed: 6, outcomes: { settled: 6 } })
  t.equal(world.cloud.balancers().length, 6)
  t.match(await sweep(world, 'pending'), { listed: 6, outcomes: { settled: 0 } })
  await world.edit(SERVICE, { spec: { types: ['CrossCluster'] } })
  t.match(await sweep(world, 'pending'), { listed: 6, outcomes: { settled: 1 } }, 'held, and to be let go')
  t.equal(world.cloud.balancers().length, 5)
})

t.test('a sweep goes on where time ran out, page by page', async (t) => {
  let controller = new AbortController()
  const world = createWorld({
    config: 'sweep: { pageSize: 2, concurrency: 1 }',
    failure({ method }) {
      if (method === 'ensure') controller.abort()
      return undefined
    },
  })
  for (let index = 0; index < 5; index += 1) await world.create(buildIngress({ metadata: { name: `web-${index}` } }))
  await world.create(buildService())
  let calls = 0
  let token: string | undefined
  do {
    controller = new AbortController()
    const report = await world.runtime.doors.sweep(
      { scope: 'all', ...(token === undefined ? {} : { continue: token }) },
      controller.signal,
    )
    token = report.continue
    calls += 1
  } while (token !== undefined && calls < 20)
  t.equal(world.cloud.balancers().length, 6)
  t.equal(calls, 7, 'each call made one balancer before its time was up, the last none')
  await t.rejects(world.runtime.doors.sweep({ scope: 'all', continue: 'nonsense' }, noAbort()), {
    code: 'BadRequest',
    field: 'continue',
  })
  await t.rejects(world.runtime.doors.sweep({ scope: 'all', continue: '9.x' }, noAbort()), { code: 'BadRequest' })
})

t.test('however short the time, each call of a sweep gets on, on whichever instance', async (t) => {
  const looked: string[] = []
  const options = {
    config: 'sweep: { pageSize: 100, concurrency: 2, deadlineMs: 10000 }\npropagation: { enabled: false }',
    provider: (fake: MultiClusterProvider) =>
      aroundProvider(fake, async ({ method, context }, next) => {
        if (method === 'get') {
          looked.push(context.identity.name)
          await new Promise<void>((resolve) => void world.clock.after(4_000, resolve))
        }
        return next()
      }),
  }
  const world: World = createWorld(options)
  const other = createWorld({ ...options, beside: world, provider: () => world.provider })
  const names = Array.from({ length: 12 }, (_, index) => `web-${String(index).padStart(2, '0')}`)
  for (const name of names) await world.create(buildIngress({ metadata: { name } }))
  for (const scope of ['all', 'pending']) {
    for (const name of names) {
      const status = { loadBalancer: { ingress: [] } }
      if (scope === 'pending') await world.edit({ ...INGRESS, name }, { status }, 'status')
    }
    looked.length = 0
    let token = ''
    let calls = 0
    do {
      const { http } = calls % 2 === 0 ? world : other
      const answer = http('POST', `/sweep?${new URLSearchParams({ scope, continue: token })}`)
      await world.clock.advance(10_000)
      const { status, body } = await answer
      token = JSON.parse(body).continue ?? ''
      t.equal(status, token === '' ? 200 : 503)
      calls += 1
    } while (token !== '' && calls < 20)
    t.ok(calls < 6, `${scope}: ${calls} calls`)
    t.same([...new Set(looked)].sort(), names, `${scope}: each was looked at`)
    await world.clock.advance(60_000)
  }
  t.equal(world.balancers().length, 12)
})

t.test('a list during which time runs out is gone on with', async (t) => {
  let controller = new AbortController()
  const world = createWorld({
    config: 'sweep: { pageSize: 2 }',
    wrapStore: (store) => ({
      ...store,
      list(kind, options) {
        if (options.continue !== undefined && !controller.signal.aborted) controller.abort()
        return store.list(kind, options)
      },
    }),
  })
  for (let index = 0; index < 3; index += 1) await world.create(buildIngress({ metadata: { name: `web-${index}` } }))
  const first = await world.runtime.doors.sweep({ scope: 'all' }, controller.signal)
  t.match(first, { listed: 0, continue: /./ }, 'the next page is listed while the one before is worked on')
  controller = new AbortController()
  controller.abort()
  t.same(
    (await world.runtime.doors.sweep({ scope: 'all', continue: first.continue ?? '' }, controller.signal)).continue,
    first.continue,
  )
})

t.test('a continue token that expires costs nothing: the rest is listed as it is now', async (t) => {
  for (const isTold of [true, false]) {
    let lists = 0
    const world: World = createWorld({
      config: 'sweep: { pageSize: 2 }\npropagation: { enabled: false }',
      wrapStore: (store) => ({
        ...store,
        async list(kind, options) {
          if (kind !== 'MultiClusterIngress' || options.limit !== 2) return store.list(kind, options)
          lists += 1
          if (options.continue === undefined) return store.list(kind, options)
          if (!isTold && lists === 2) throw new CatalogueError('ContinueExpired', 'too old')
          await world.edit({ ...INGRESS, name: 'web-0' }, { metadata: { annotations: { turn: String(lists) } } })
          if (isTold) world.core.compact()
          return store.list(kind, options)
        },
      }),
    })
    for (let index = 0; index < 7; index += 1) await world.create(buildIngress({ metadata: { name: `web-${index}` } }))
    const { listed, continue: token } = await sweep(world)
    t.equal(token, undefined)
    // What was changed under its pass is in the queue.
    await world.clock.advance(10_000)
    t.equal(world.balancers().length, 7)
    t.equal(listed, isTold ? 7 : 9, isTold ? 'each once' : 'the first page again, where the server gives no token')
  }
})

t.test('a kind that is not served keeps no other from being swept', async (t) => {
  const world = createWorld({
    config: 'propagation: { enabled: false }',
    wrapStore: (store) => ({
      ...store,
      list: (kind, options) =>
        kind === 'MultiClusterIngress'
          ? Promise.reject(new CatalogueError('KindNotServed', 'no such kind'))
          : store.list(kind, options),
    }),
  })
  for (const name of ['a', 'b', 'c']) await world.create(buildService({ metadata: { name } }))
  t.match(await sweep(world), { listed: 3, outcomes: { settled: 3, failed: 0 } })
  t.equal(world.cloud.balancers().length, 3)
})

t.test('what only a sweep finds is counted, and nothing else', async (t) => {
  const withoutFingerprint = (fake: MultiClusterProvider) =>
    aroundProvider(fake, async ({ method }, next) => {
      const answer = (await next()) as { status: object } | undefined
      return method === 'get' || method === 'update' ? answer && { status: answer.status } : answer
    })
  for (const { title, periodMs, provider } of [
    { title: 'no balancer is verified', periodMs: 86_400_000 },
    { title: 'each is verified', periodMs: 1_000 },
    { title: 'a provider keeps no fingerprint', periodMs: 86_400_000, provider: withoutFingerprint },
  ]) {
    const config = `sweep: { intervalMs: 1000, periodMs: ${periodMs} }\npropagation: { enabled: false }`
    const world = createWorld({ config, ...(provider && { provider }) })
    const found = async () =>
      [
        ...(await world.runtime.doors.metricsText()).matchAll(
          /^work_found_only_by_sweep_total{controller="(.*)"} ([1-9]\d*)$/gm,
        ),
      ]
        .map(([, kind, count]) => `${kind} ${count}`)
        .sort()
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    await sweep(world)
    t.same(await found(), [], `${title}: what an event told of is not`)
    await world.create(buildService())
    await sweep(world)
    await sweep(world)
    t.same(await found(), ['MultiClusterService 1'], title)
    await world.edit(INGRESS, { status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } } }, 'status')
    await sweep(world)
    await sweep(world)
    t.same(await found(), ['MultiClusterIngress 1', 'MultiClusterService 1'], `${title}: a status written by hand`)
    await world.edit(INGRESS, { metadata: { finalizers: [] } })
    await sweep(world)
    await sweep(world)
    t.same(await found(), ['MultiClusterIngress 2', 'MultiClusterService 1'], `${title}: a finalizer taken by hand`)
    await world.remove(INGRESS)
    await sweep(world)
    t.same(await found(), ['MultiClusterIngress 3', 'MultiClusterService 1'], `${title}: a deletion`)
  }
})

t.test('a sweep that cannot list says so', async (t) => {
  const failing = new CatalogueError('ApiFailed', 'down')
  const world = createWorld({
    config: 'sweep: { pageSize: 1 }',
    wrapStore: (store) => ({
      ...store,
      list: (kind, options) => (options.continue === undefined ? store.list(kind, options) : Promise.reject(failing)),
    }),
  })
  await world.create(buildIngress())
  await world.create(buildIngress({ metadata: { name: 'second' } }))
  await t.rejects(sweep(world), failing)
})

t.test('a notified key waits until the change can be seen', async (t) => {
  const world = createWorld()
  await notify(world, 'CREATE', INGRESS)
  await world.clock.advance(10_000)
  t.same(world.calls(), [], 'nothing is done for an object that is not stored')
  t.ok(world.requests.length <= 9, `${world.requests.length} looks in 10 s`)
  await world.create(buildIngress())
  await world.clock.advance(5_000)
  t.equal(world.cloud.balancers().length, 1)
})

t.test('what was announced and never came is forgotten after 40 s', async (t) => {
  const world = createWorld()
  await notify(world, 'CREATE', INGRESS)
  await world.clock.advance(46_000)
  t.equal(world.runtime.queue.size(), 0)
  const looks = world.requests.length
  await world.clock.advance(600_000)
  t.equal(world.requests.length, looks)
})

t.test('an update that was refused is reconciled as the world is, at the latest after 40 s', async (t) => {
  const world = createWorld()
  const stored = await world.create(buildIngress())
  await notify(world, 'UPDATE', INGRESS, { oldObject: stored, object: { ...stored, spec: {} } as KubernetesObject })
  await world.clock.advance(30_000)
  t.equal(world.cloud.balancers().length, 0)
  await world.clock.advance(16_000)
  t.equal(world.cloud.balancers().length, 1)
})

t.test('of two announced changes the visible one does not wait for the other', async (t) => {
  const world = createWorld()
  const stored = await world.create(buildIngress())
  await notify(world, 'CREATE', INGRESS, { object: stored })
  await notify(world, 'UPDATE', INGRESS, { oldObject: stored, object: { ...stored, spec: {} } as KubernetesObject })
  await world.clock.advance(60)
  t.equal(world.cloud.balancers().length, 1)
  await world.clock.advance(100)
  t.equal(world.runtime.queue.size(), 0, 'the claim itself made the second visible')
})

t.test('a forged DELETE for a living object costs one read and nothing else', async (t) => {
  const world = createWorld()
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  world.requests.length = 0
  const calls = world.calls().length
  const alive = world.read(INGRESS) as KubernetesObject
  for (const oldObject of [alive, undefined]) {
    world.requests.length = 0
    await tell(world, 'DELETE', INGRESS, oldObject)
    t.same(world.requests, ['get MultiClusterIngress'])
  }
  await world.clock.advance(600_000)
  t.equal(world.calls().length, calls)
  t.equal(world.cloud.balancers().length, 1)
})

t.test('a late DELETE of an earlier object of the name does not touch the later one', async (t) => {
  const world = createWorld()
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  const earlier = buildIngress({ metadata: { uid: 'earlier' } })
  await tell(world, 'DELETE', INGRESS, earlier)
  t.equal(world.cloud.balancers().length, 1)
  t.notOk(world.calls().includes('ensureDeleted'))
})

t.test('events that concern nothing', async (t) => {
  const world = createWorld()
  const event = { source: 'cloudevent', operation: 'UPDATE', namespace: 'shop', name: 'web', receivedAt: 0 } as const
  t.same(await world.runtime.doors.acceptEvent({ ...event, group: '', kind: 'Pod' }), { keys: 0 })
  t.same(
    await world.runtime.doors.acceptEvent({
      ...event,
      group: 'networking.karmada.io',
      kind: 'MultiClusterIngress',
      name: '',
    }),
    { keys: 0 },
  )
  const stored = await world.create(buildIngress({ metadata: { finalizers: [FINALIZER] } }))
  const released = { ...stored, metadata: { ...stored.metadata, finalizers: [] } }
  t.same(await notify(world, 'UPDATE', INGRESS, { oldObject: stored, object: released }, IDENTITY), { keys: 0 })
})

t.test('the ownership table', async (t) => {
  const theirs = buildClass({ metadata: { name: 'theirs' }, spec: { controller: 'example.com/b' } })
  const defaults = ['a', 'b'].map((name) => buildClass({ metadata: { name, annotations: DEFAULT_CLASS } }))
  const held = { finalizers: [FINALIZER] }
  const leaving = { deletionTimestamp: '2026-03-01T08:00:00Z', uid: 'u', resourceVersion: '1' }
  const rows: {
    title: string
    objects: KubernetesObject[]
    calls: string[]
    finalizers: string[] | undefined
    events: RegExp[]
  }[] = [
    {
      title: 'another’s class, not held',
      objects: [theirs, buildIngress({ spec: { ingressClassName: 'theirs' } })],
      calls: [],
      finalizers: undefined,
      events: [],
    },
    {
      title: 'another’s class, held',
      objects: [theirs, buildIngress({ metadata: held, spec: { ingressClassName: 'theirs' } })],
      calls: ['get', 'ensureDeleted'],
      finalizers: [],
      events: [/DeletedLoadBalancer/],
    },
    {
      title: 'class missing, held',
      objects: [buildIngress({ metadata: held })],
      calls: [],
      finalizers: [FINALIZER],
      events: [/Warning OwnershipUnresolved: IngressClass "multicloud" not found; the balancer stays as it is/],
    },
    { title: 'class missing, not held', objects: [buildIngress()], calls: [], finalizers: undefined, events: [] },
    {
      title: 'two defaults, held',
      objects: [...defaults, buildIngress({ metadata: held, spec: {} })],
      calls: [],
      finalizers: [FINALIZER],
      events: [/multiple default IngressClasses: a, b/],
    },
    {
      title: 'no class wanted',
      objects: [buildClass(), buildIngress({ spec: { ingressClassName: '' } })],
      calls: [],
      finalizers: undefined,
      events: [],
    },
    {
      title: 'held by another provider',
      objects: [
        buildClass(),
        buildIngress({ metadata: { finalizers: ['karmada.io/multi-cluster-ingress-controller'] } }),
      ],
      calls: ['get'],
      finalizers: ['karmada.io/multi-cluster-ingress-controller'],
      events: [],
    },
    {
      title: 'leaving, held by others',
      objects: [buildClass(), buildIngress({ metadata: { ...leaving, finalizers: ['a.example/x'] } })],
      calls: [],
      finalizers: ['a.example/x'],
      events: [],
    },
    {
      title: 'leaving, held by us, class gone',
      objects: [buildIngress({ metadata: { ...leaving, finalizers: [FINALIZER, 'a.example/x'] } })],
      calls: ['ensureDeleted'],
      finalizers: ['a.example/x'],
      events: [/DeletedLoadBalancer/],
    },
  ]
  for (const { title, objects, calls, finalizers, events } of rows) {
    const world = createWorld({ objects: [...objects, ...buildServiceWorld('web')] })
    await tell(world, 'UPDATE', INGRESS)
    await sweep(world)
    t.same(new Set(world.calls()), new Set(calls), `${title}: calls`)
    t.same(
      world.read(INGRESS)?.metadata.finalizers ?? undefined,
      finalizers?.length === 0 ? undefined : finalizers,
      `${title}: finalizers`,
    )
    t.equal(world.events().length, events.length, `${title}: events`)
    for (const [index, pattern] of events.entries()) t.match(world.events()[index], pattern, title)
  }
})

t.test('type taken away: balancer, status and finalizer go, foreign fields stay', async (t) => {
  const status = {
    loadBalancer: { ingress: [{ ip: '192.0.2.1' }] },
    conditions: [
      { type: 'ServiceApplied', status: 'True', reason: 'Ok', message: '', lastTransitionTime: '2026-03-01T08:00:00Z' },
    ],
  }
  const world = createWorld()
  await world.create(buildService())
  await tell(world, 'CREATE', SERVICE)
  await world.edit(SERVICE, { status }, 'status')
  await world.edit(SERVICE, {
    metadata: { finalizers: [FINALIZER, 'karmada.io/multiclusterservice-controller'] },
    spec: { types: ['CrossCluster'] },
  })
  await tell(world, 'UPDATE', SERVICE)
  const left = world.read(SERVICE)
  t.same(left?.metadata.finalizers, ['karmada.io/multiclusterservice-controller'])
  t.equal(left?.status?.loadBalancer, undefined)
  t.equal(left?.status?.conditions?.length, 1)
  t.same(world.cloud.balancers(), [])
})

t.test('a service says in a condition what became of its balancer, beside those of others', async (t) => {
  let failing = false
  const world = createWorld({
    failure: ({ method }) =>
      failing && method === 'update' ? { when: 'before', error: new Error('quota') } : undefined,
  })
  const theirs = {
    type: 'ServiceApplied',
    status: 'True',
    reason: 'Ok',
    message: '',
    lastTransitionTime: '2026-03-01T07:00:00Z',
  }
  await world.create(buildService())
  await world.edit(SERVICE, { status: { conditions: [theirs] } }, 'status')
  await tell(world, 'CREATE', SERVICE)
  const ready = {
    type: 'LoadBalancerReady',
    status: 'True',
    reason: 'LoadBalancerEnsured',
    lastTransitionTime: '2026-03-01T08:00:00Z',
  }
  t.match(world.read(SERVICE)?.status?.conditions, [theirs, ready])

  failing = true
  await world.clock.advance(60_000)
  await world.edit(SERVICE, { metadata: { annotations: { a: '1' } } })
  await tell(world, 'UPDATE', SERVICE)
  const failed = {
    type: 'LoadBalancerReady',
    status: 'False',
    reason: 'SyncLoadBalancerFailed',
    lastTransitionTime: '2026-03-01T08:01:00Z',
  }
  t.match(world.read(SERVICE)?.status?.conditions, [theirs, failed])

  failing = false
  await world.clock.advance(60_000)
  t.match(world.read(SERVICE)?.status?.conditions, [theirs, { status: 'True' }])
  world.requests.length = 0
  await sweep(world)
  t.notOk(
    world.requests.some((request) => /create|patch/.test(request)),
    'quiet',
  )
})

t.test('a status that another wrote meanwhile is not cleared', async (t) => {
  const theirs = buildClass({ metadata: { name: 'theirs' }, spec: { controller: 'example.com/b' } })
  const world = createWorld({ objects: [buildClass(), theirs, ...buildServiceWorld('web')] })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.edit(INGRESS, { status: { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } } }, 'status')
  await world.edit(INGRESS, { spec: { ingressClassName: 'theirs' } })
  await tell(world, 'UPDATE', INGRESS)
  t.same(world.read(INGRESS)?.status?.loadBalancer, { ingress: [{ ip: '203.0.113.9' }] })
  t.same(world.cloud.balancers(), [])
})

t.test('a published status that somebody changed is put right without a cloud change', async (t) => {
  const world = createWorld()
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.edit(INGRESS, { status: { loadBalancer: { ingress: [] } } }, 'status')
  await sweep(world)
  t.same(world.read(INGRESS)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.1' }])
  t.same(
    world.calls().filter((call) => call !== 'get'),
    ['ensure'],
  )
})

t.test('a provider that needs time is asked again when it said', async (t) => {
  const world = createWorld({ delayMs: 60_000 })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.same(world.events(), [], 'still working is no news')
  t.equal(world.read(INGRESS)?.status?.loadBalancer, undefined)
  await world.clock.advance(61_000)
  t.same(world.read(INGRESS)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.1' }])
  t.equal(world.cloud.balancers().length, 1)
})

t.test('failures of the provider', async (t) => {
  const rows: { title: string; error: Error; retried: boolean; event: RegExp | undefined }[] = [
    {
      title: 'any error',
      error: new Error('quota exceeded'),
      retried: true,
      event: /Warning SyncLoadBalancerFailed: MultiClusterIngress\/shop\/storefront: quota exceeded/,
    },
    { title: 'Terminal', error: new Terminal('host not allowed'), retried: false, event: /host not allowed/ },
    { title: 'NotImplemented', error: new NotImplemented('no'), retried: false, event: /SyncLoadBalancerFailed/ },
    { title: 'InstanceNotFound', error: new InstanceNotFound('no node'), retried: true, event: /no node/ },
    { title: 'ImplementedElsewhere', error: new ImplementedElsewhere('other'), retried: false, event: undefined },
    { title: 'RetryAfter', error: new RetryAfter(9_000), retried: true, event: undefined },
  ]
  for (const { title, error, retried, event } of rows) {
    let failing = true
    const world = createWorld({
      failure: ({ method }) => (failing && method === 'ensure' ? { when: 'before', error } : undefined),
    })
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    await sweep(world)
    t.equal(world.events().length, event === undefined ? 0 : 1, `${title}: told once`)
    if (event !== undefined) t.match(world.events()[0], event, title)
    t.equal(world.runtime.queue.size(), retried ? 1 : 0, `${title}: ${retried ? 'tried again' : 'left alone'}`)
    failing = false
    await world.clock.advance(60_000)
    t.equal(world.cloud.balancers().length, retried ? 1 : 0, title)
  }
})

t.test('a delete that fails keeps the finalizer, tells, and is tried again', async (t) => {
  let failing = true
  const world = createWorld({
    failure: ({ method }) =>
      failing && method === 'ensureDeleted' ? { when: 'before', error: new Error('in use') } : undefined,
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  t.same(world.read(INGRESS)?.metadata.finalizers, [FINALIZER])
  t.match(world.events().at(-1), /DeleteLoadBalancerFailed/)
  failing = false
  await world.clock.advance(10_000)
  t.equal(world.read(INGRESS), undefined)
  t.same(world.cloud.balancers(), [])
})

t.test('a balancer whose creation was answered by an error is found, not made twice', async (t) => {
  let lost = true
  const world = createWorld({
    failure: ({ method }) =>
      lost && method === 'ensure' ? { when: 'after', error: new Error('connection reset') } : undefined,
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  lost = false
  await world.clock.advance(10_000)
  t.equal(world.cloud.balancers().length, 1)
  t.same(world.read(INGRESS)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.1' }])
})

t.test('an object that goes while its balancer is made leaves none behind', async (t) => {
  const rows: { title: string; act: (world: World) => Promise<unknown> }[] = [
    { title: 'deleted', act: (world) => world.remove(INGRESS) },
    {
      title: 'finalizer stripped and deleted',
      async act(world) {
        await world.edit(INGRESS, { metadata: { finalizers: null } })
        await world.remove(INGRESS)
      },
    },
    {
      title: 'stripped, deleted and made again under the same name',
      async act(world) {
        await world.edit(INGRESS, { metadata: { finalizers: null } })
        await world.remove(INGRESS)
        await world.create(buildIngress({ spec: { ingressClassName: 'theirs' } }))
      },
    },
  ]
  for (const { title, act } of rows) {
    let acted = false
    const world: World = createWorld({
      provider: (fake) => ({
        ...fake,
        loadBalancer: {
          ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
          async ensureLoadBalancer(ingress, context) {
            const result = await fake.loadBalancer?.ensureLoadBalancer(ingress, context)
            if (!acted) await act(world)
            acted = true
            return result ?? {}
          },
        },
      }),
    })
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    t.ok(acted)
    t.same(world.cloud.balancers(), [], title)
  }
})

t.test('a finalizer stripped while the balancer is made is put back', async (t) => {
  let acted = false
  const world: World = createWorld({
    failure({ method }) {
      if (method === 'ensure' && !acted) {
        acted = true
        void world.edit(INGRESS, { metadata: { finalizers: null } })
      }
      return undefined
    },
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(200)
  t.same(world.read(INGRESS)?.metadata.finalizers, [FINALIZER])
  t.equal(world.cloud.balancers().length, 1)
})

t.test('an object that changes between the decision and the lock is looked at anew', async (t) => {
  let acted = false
  const world: World = createWorld({
    failure({ method }) {
      if (method === 'get' && !acted) {
        acted = true
        void world.edit(INGRESS, { metadata: { annotations: { a: '1' } } })
      }
      return undefined
    },
  })
  await world.create(buildIngress({ metadata: { finalizers: [FINALIZER] } }))
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(200)
  t.equal(world.cloud.balancers().length, 1)
  const [balancer] = world.cloud.balancers()
  await sweep(world)
  t.equal(world.cloud.balancers()[0]?.fingerprint, balancer?.fingerprint, 'the balancer is that of the changed object')
})

t.test('an API server that claims without storing the finalizer gets no balancer', async (t) => {
  const world = createWorld({
    wrapStore: (store) => ({
      ...store,
      patch: async (key, patch, options) =>
        patch.type === 'json' ? ((await store.get(key, options)) as never) : store.patch(key, patch, options),
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.same(world.cloud.balancers(), [])
})

t.test('failures of the API server are retried, denials are not', async (t) => {
  for (const { code, retried } of [
    { code: 'ApiUnreachable', retried: true },
    { code: 'ApiDenied', retried: false },
    { code: 'ApiThrottled', retried: true },
  ] as const) {
    const world = createWorld({
      wrapStore: (store) => ({ ...store, patch: () => Promise.reject(new CatalogueError(code, 'no')) }),
    })
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    t.same(world.cloud.balancers(), [], `${code}: no balancer without a finalizer`)
    t.equal(world.runtime.queue.size(), retried ? 1 : 0, code)
    t.same(world.events(), retried ? [] : ['Warning SyncLoadBalancerFailed: no'], `${code}: told if nobody tries again`)
  }
  const reading = createWorld({
    wrapStore: (store) => ({ ...store, get: () => Promise.reject(new CatalogueError('ApiUnreachable', 'no')) }),
  })
  await tell(reading, 'DELETE', INGRESS)
  t.equal(reading.runtime.queue.size(), 1, 'a look that failed is no look')
})

t.test('an event that cannot be written does not undo the work', async (t) => {
  const world = createWorld({
    wrapStore: (store) => ({ ...store, create: () => Promise.reject(new CatalogueError('ApiForbidden', 'no')) }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.same(world.read(INGRESS)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.1' }])
  t.ok(world.logs.some(({ message }) => message === 'event not written'))
})

t.test('an address that Karmada would refuse is not stored', async (t) => {
  const world = createWorld({
    provider: (fake) => ({
      ...fake,
      loadBalancer: {
        ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
        ensureLoadBalancer: async () => ({ status: { ingress: [{ ip: 'not-an-address' }] } }),
      },
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.equal(world.read(INGRESS)?.status, undefined)
  t.ok(world.logs.some(({ fields }) => 'code' in fields && fields.code === 'ProviderFailed'))
})

t.test('undefined status leaves, empty clears', async (t) => {
  const published = { loadBalancer: { ingress: [{ ip: '203.0.113.9' }] } }
  for (const { status, expected } of [
    { status: undefined, expected: published.loadBalancer },
    { status: { ingress: [] }, expected: undefined },
  ]) {
    const world = createWorld({
      provider: (fake) => ({
        ...fake,
        loadBalancer: {
          ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
          ensureLoadBalancer: async () => (status === undefined ? {} : { status }),
        },
      }),
    })
    await world.create(buildIngress())
    await world.edit(INGRESS, { status: published }, 'status')
    await tell(world, 'CREATE', INGRESS)
    t.same(world.read(INGRESS)?.status?.loadBalancer, expected)
    t.match(world.events()[0], /Ensured load balancer$/)
  }
})

t.test('a provider with one of the two interfaces runs with what it has', async (t) => {
  const world = createWorld({
    config: 'propagation: { enabled: false }',
    provider: ({ name, mcsLoadBalancer }) => ({ name, ...(mcsLoadBalancer && { mcsLoadBalancer }) }),
  })
  await world.create(buildIngress())
  await world.create(buildService())
  t.match(await sweep(world), { outcomes: { settled: 1, ignored: 1 } })
  await world.edit(INGRESS, { metadata: { finalizers: [FINALIZER] } })
  await world.remove(INGRESS)
  await sweep(world)
  t.same(world.read(INGRESS)?.metadata.finalizers, [FINALIZER], 'nothing proved the balancer absent')
  t.match(world.events().at(-1), /does not serve MultiClusterIngress; the balancer stays/)

  const other = createWorld({
    config: 'propagation: { enabled: false }',
    provider: ({ name, loadBalancer }) => ({ name, ...(loadBalancer && { loadBalancer }) }),
  })
  await other.create(buildIngress())
  await other.create(buildService())
  t.match(await sweep(other), { outcomes: { settled: 1, ignored: 1 } })
})

t.test('a provider that ignores its deadline does not keep a worker', async (t) => {
  const world = createWorld({
    config: 'work: { deadlineMs: 5000, providerDeadlineMs: 4000 }',
    provider: (fake) => ({
      ...fake,
      loadBalancer: {
        ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
        ensureLoadBalancer: () => new Promise(() => {}),
      },
    }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(6_000)
  t.ok(world.logs.some(({ fields }) => 'code' in fields && fields.code === 'ProviderTimeout'))
  t.match(world.events().at(-1), /SyncLoadBalancerFailed: .* did not answer in time/)
  t.equal(world.runtime.queue.size(), 1)
})

t.test('two workers on one object: the second leaves it to the first, which looks once more', async (t) => {
  let finish = () => {}
  const world = createWorld({
    provider: (fake) => ({
      ...fake,
      loadBalancer: {
        ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
        async ensureLoadBalancer(ingress, context) {
          await new Promise<void>((resolve) => {
            finish = resolve
          })
          return (await fake.loadBalancer?.ensureLoadBalancer(ingress, context)) ?? {}
        },
      },
    }),
  })
  await world.create(buildIngress({ metadata: { finalizers: [FINALIZER] } }))
  await tell(world, 'CREATE', INGRESS)
  t.match(await sweep(world), { outcomes: { ignored: 1 } })
  finish()
  await world.clock.advance(100)
  t.equal(world.cloud.balancers().length, 1)
  t.ok(
    world.logs.some(({ fields }) => 'outcome' in fields && fields.outcome === 'later'),
    'the first looked once more',
  )
})

t.test(
  'what is handed to the provider: backends by cluster, blocked ones closed, locations in the same pass',
  async (t) => {
    const seen: ProviderContext[] = []
    const views: MultiClusterIngress[] = []
    const world = createWorld({
      objects: [
        buildClass(),
        ...buildServiceWorld('web', ['edge-a', 'edge-b']),
        buildCluster('edge-a'),
        buildCluster('edge-b', ['TrafficControl']),
      ],
      provider: (fake) => ({
        ...fake,
        loadBalancer: {
          ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
          async ensureLoadBalancer(ingress, context) {
            seen.push(context)
            views.push(ingress)
            return (await fake.loadBalancer?.ensureLoadBalancer(ingress, context)) ?? {}
          },
        },
      }),
    })
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    t.match(seen[0]?.backends.services, [
      {
        namespace: 'shop',
        name: 'web',
        ports: [
          {
            port: 80,
            name: 'http',
            protocol: 'TCP',
            state: 'serving',
            pools: [
              { cluster: 'edge-a', state: 'serving', endpoints: [{ address: '10.64.0.11', port: 8080, ready: true }] },
              { cluster: 'edge-b', state: 'blocked', endpoints: [] },
            ],
          },
        ],
      },
    ])
    const computed = {
      serviceLocations: [{ name: 'web', clusters: ['edge-a', 'edge-b'] }],
      trafficBlockClusters: ['edge-b'],
    }
    t.match(views[0]?.status, computed, 'the provider sees them')
    t.match(world.read(INGRESS)?.status, computed, 'and so does everybody')
  },
)

t.test('a balancer whose object went without its finalizer', async (t) => {
  const strip = async (world: World) => {
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    const before = world.read(INGRESS) as KubernetesObject
    await world.edit(INGRESS, { metadata: { finalizers: null } })
    await world.remove(INGRESS)
    return before
  }
  const told = createWorld()
  await tell(told, 'DELETE', INGRESS, await strip(told))
  t.same(told.cloud.balancers(), [], 'is removed when an event names its uid and the provider knows it')

  const later = createWorld()
  const before = await strip(later)
  await later.create(buildIngress())
  await tell(later, 'DELETE', INGRESS, before)
  await later.clock.advance(1_000)
  t.same(
    later.cloud.balancers().map(({ identity }) => identity.uid),
    [later.read(INGRESS)?.metadata.uid],
    'and not that of a later object of the name',
  )

  const swept = createWorld()
  await strip(swept)
  t.match(await sweep(swept), { orphans: { found: 1, removed: 0 } }, 'is reported by the first sweep')
  t.match(await sweep(swept), { orphans: { found: 1, removed: 0 } }, 'still by the next one, which comes at once')
  t.equal(swept.cloud.balancers().length, 1)
  await swept.clock.advance(61_000)
  t.match(await sweep(swept), { orphans: { found: 0, removed: 1 } }, 'and removed by one a while later')
  t.same(swept.cloud.balancers(), [])

  const reported = createWorld({ config: 'orphans: { remove: false }' })
  await strip(reported)
  await sweep(reported)
  await reported.clock.advance(61_000)
  t.match(await sweep(reported), { orphans: { found: 1, removed: 0 } }, 'or only reported')
})

t.test('within the provider’s window "absent" proves nothing after a create whose answer was lost', async (t) => {
  let lost = true
  const world = createWorld({
    failure: ({ method }) =>
      lost && method === 'ensure' ? { when: 'after', error: new Error('connection reset') } : undefined,
    provider: (fake) => ({ ...fake, consistencyWindowMs: 30_000 }),
    config: 'work: { providerDeadlineMs: 1000 }',
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  lost = false
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  t.same(world.read(INGRESS)?.metadata.finalizers, [FINALIZER], 'nothing is released yet')
  await world.clock.advance(42_000)
  t.equal(world.read(INGRESS), undefined)
  t.same(world.cloud.balancers(), [])
  t.ok(world.calls().filter((call) => call === 'ensureDeleted').length > 1, 'it was asked for again')
})

t.test('a lock that forgets with its process is warned of where a create has to be remembered', async (t) => {
  for (const { lock, consistencyWindowMs, warnings } of [
    { lock: 'none', consistencyWindowMs: 30_000, warnings: 1 },
    { lock: 'none', consistencyWindowMs: 0, warnings: 0 },
    { lock: 'lease', consistencyWindowMs: 30_000, warnings: 0 },
  ]) {
    const { logs } = createWorld({
      config: `lock: ${lock}`,
      provider: (fake) => ({ ...fake, consistencyWindowMs }),
    })
    t.equal(logs.filter(({ message }) => message.includes('set "lock: lease"')).length, warnings, lock)
  }
})

t.test('what the cloud still brings while it is asked to delete is found before anything is released', async (t) => {
  const late: (() => Promise<unknown>)[] = []
  let deletions = 0
  const world = createWorld({
    config: 'work: { providerDeadlineMs: 1000 }',
    provider(fake) {
      const { loadBalancer } = fake
      if (loadBalancer === undefined) return fake
      return {
        ...fake,
        consistencyWindowMs: 10_000,
        loadBalancer: {
          ...loadBalancer,
          async ensureLoadBalancer(ingress, context) {
            const unstopped = { ...context, signal: noAbort() }
            late.push(() => loadBalancer.ensureLoadBalancer(ingress, unstopped))
            throw new Error('connection reset')
          },
          async ensureLoadBalancerDeleted(ingress, context) {
            await loadBalancer.ensureLoadBalancerDeleted(ingress, context)
            deletions += 1
            if (deletions !== 2) return
            await late[0]?.()
            await new Promise<void>((resolve) => void world.clock.after(800, resolve))
          },
        },
      }
    },
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  await world.clock.advance(20_200)
  const sweeping = sweep(world)
  await world.clock.advance(60_000)
  await sweeping
  t.equal(world.read(INGRESS), undefined)
  t.same(world.cloud.balancers(), [])
})

t.test('an unknown create that came is not unknown any more', async (t) => {
  let lost = true
  const world = createWorld({
    failure: ({ method }) =>
      lost && method === 'ensure' ? { when: 'after', error: new Error('connection reset') } : undefined,
    provider: (fake) => ({ ...fake, consistencyWindowMs: 600_000 }),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  lost = false
  await tell(world, 'UPDATE', INGRESS)
  await world.remove(INGRESS)
  await tell(world, 'UPDATE', INGRESS)
  t.equal(world.read(INGRESS), undefined, 'so nobody waits for it')
})

t.test('a restart finds pools that were empty before as they were, and calls nobody', async (t) => {
  const before = createWorld({ objects: [buildClass()] })
  await before.create(buildIngress())
  await sweep(before)
  t.equal(before.cloud.balancers().length, 1)
  const after = createWorld({ beside: before, provider: () => before.provider })
  await sweep(after)
  t.same(
    before.calls().filter((call) => call !== 'get'),
    ['ensure'],
    'only that of before the restart',
  )
})

t.test('every balancer is verified once a period, a share by each sweep', async (t) => {
  const world = createWorld({ config: 'sweep: { intervalMs: 300000, periodMs: 3600000 }' })
  for (let index = 0; index < 60; index += 1) await world.create(buildIngress({ metadata: { name: `web-${index}` } }))
  await sweep(world)
  const verified = () =>
    world.cloud
      .calls()
      .filter(({ method }) => method === 'update')
      .map(({ identity }) => identity.name)
  const before = verified().length
  const shares: number[] = []
  for (let round = 0; round < 12; round += 1) {
    await world.clock.advance(300_000)
    const had = verified().length
    world.requests.length = 0
    await sweep(world)
    shares.push(verified().length - had)
    t.notOk(
      world.requests.some((request) => /create|patch/.test(request)),
      'nothing is written',
    )
  }
  t.equal(new Set(verified().slice(before)).size, 60, 'all of them')
  t.equal(verified().length - before, 60, 'once each')
  t.ok(Math.max(...shares) < 20, `shares: ${shares.join(', ')}`)
})

t.test('two ingresses claim one host and path: the older has it, the younger is told', async (t) => {
  const rules = (...paths: string[]) => [
    {
      host: 'store.example.com',
      http: {
        paths: paths.map((path) => ({
          path,
          pathType: 'Prefix',
          backend: { service: { name: 'web', port: { number: 80 } } },
        })),
      },
    },
  ]
  const specs = new Map<string, unknown>()
  const world = createWorld({
    provider: (fake) => ({
      ...fake,
      loadBalancer: {
        ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
        async ensureLoadBalancer(ingress, context) {
          specs.set(ingress.metadata.name, ingress.spec?.rules)
          return (await fake.loadBalancer?.ensureLoadBalancer(ingress, context)) ?? {}
        },
      },
    }),
  })
  await world.create(buildIngress({ spec: { ingressClassName: 'multicloud', rules: rules('/', '/cart') } }))
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(60_000)
  const younger = { ...INGRESS, name: 'younger' }
  await world.create(
    buildIngress({
      metadata: { name: 'younger' },
      spec: { ingressClassName: 'multicloud', rules: rules('/cart/', '/help') },
    }),
  )
  await tell(world, 'CREATE', younger)
  t.same(specs.get('storefront'), rules('/', '/cart'))
  t.same(specs.get('younger'), rules('/help'))
  t.match(
    world.events().at(-1),
    /Warning HostConflict: store.example.com\/cart\/ is claimed by the older multiclusteringress shop\/storefront/,
  )
  t.equal(world.cloud.balancers().length, 2)
})

t.test('locations of everybody’s ingresses, where that is wanted', async (t) => {
  const theirs = buildClass({ metadata: { name: 'theirs' }, spec: { controller: 'example.com/b' } })
  for (const { wanted, expected } of [
    { wanted: 'owned', expected: undefined },
    { wanted: 'all', expected: [{ name: 'web', clusters: ['edge-a', 'edge-b'] }] },
  ]) {
    const world = createWorld({
      objects: [
        theirs,
        ...buildServiceWorld('web'),
        buildIngress({ spec: { ...buildIngress().spec, ingressClassName: 'theirs' } }),
      ],
      ingressClass: `serviceLocations: ${wanted}`,
    })
    await sweep(world)
    t.same(world.read(INGRESS)?.status?.serviceLocations, expected, wanted)
    world.requests.length = 0
    await sweep(world)
    t.notOk(
      world.requests.some((request) => request.startsWith('patch')),
      'once',
    )
  }
})

t.test('locations are published even when the provider fails', async (t) => {
  const world = createWorld({
    failure: ({ method }) => (method === 'ensure' ? { when: 'before', error: new Error('quota') } : undefined),
  })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  t.match(world.read(INGRESS)?.status, { serviceLocations: [{ name: 'web', clusters: ['edge-a', 'edge-b'] }] })
})

t.test(
  'endpoints that vanish for a moment are held; after the grace period the pool is emptied, with an event',
  async (t) => {
    const slice = { kind: 'EndpointSlice', namespace: 'shop', name: 'imported-edge-a-web-x7k2p' } as const
    const states: string[] = []
    const world = createWorld({
      objects: [buildClass(), ...buildServiceWorld('web', ['edge-a'])],
      provider: (fake) => ({
        ...fake,
        loadBalancer: {
          ...(fake.loadBalancer as NonNullable<typeof fake.loadBalancer>),
          async updateLoadBalancer(ingress, context) {
            states.push(context.backends.services[0]?.ports[0]?.state ?? 'none')
            return (await fake.loadBalancer?.updateLoadBalancer(ingress, context)) ?? {}
          },
        },
      }),
    })
    await world.create(buildIngress())
    await tell(world, 'CREATE', INGRESS)
    await world.remove(slice)
    await sweep(world)
    t.same(states, ['held'])
    await world.clock.advance(16_000)
    t.same(states, ['held', 'empty'])
    t.ok(world.events().includes('Warning BackendsEmptied: service shop/web has no endpoints any more'))

    await world.create(buildSlice({ endpoints: ['10.64.0.12'] }))
    await sweep(world)
    t.same(states, ['held', 'empty', 'serving'])
  },
)

/** A CloudEvent about an object that is no ingress and no service. */
async function tellOf(world: World, kind: Kind, name: string, overrides: Partial<ClusterEvent> = {}) {
  const { group, namespaced } = RESOURCES[kind]
  return world.runtime.doors.acceptEvent({
    source: 'cloudevent',
    operation: 'UPDATE',
    group,
    kind,
    namespace: namespaced ? 'shop' : '',
    name,
    receivedAt: world.clock.now(),
    ...overrides,
  })
}

t.test('what fails before the reconciler is asked is said, and tried again', async (t) => {
  const refused = new CatalogueError('ApiForbidden', 'cannot get endpointslices')
  const world = createWorld({
    wrapStore: (store) => ({
      ...store,
      get: (key, options) => (key.kind === 'EndpointSlice' ? Promise.reject(refused) : store.get(key, options)),
    }),
  })
  await tellOf(world, 'EndpointSlice', 'imported-edge-a-web-x7k2p', { operation: 'DELETE', source: 'admission' })
  await world.clock.advance(1_000)
  t.match(
    world.logs.filter(({ level }) => level === 'warn').map(({ fields }) => fields),
    [{ outcome: 'failed', code: 'ApiForbidden', reason: 'cannot get endpointslices' }],
  )
  t.equal(world.runtime.queue.size(), 1)
})

t.test('what an object depends on brings it back', async (t) => {
  const tls = { tls: [{ secretName: 'cert' }], ...buildIngress().spec }
  const rows: { title: string; kind: Kind; name: string; change: (world: World) => Promise<unknown> }[] = [
    {
      title: 'a Service gets another port',
      kind: 'Service',
      name: 'web',
      change: (world) =>
        world.edit(
          { kind: 'Service', namespace: 'shop', name: 'web' },
          {
            spec: {
              ports: [{ name: 'http', port: 80, appProtocol: 'kubernetes.io/h2c' }],
            },
          },
        ),
    },
    {
      title: 'a slice gets another address',
      kind: 'EndpointSlice',
      name: 'imported-edge-a-web-x7k2p',
      change: (world) =>
        world.edit(
          { kind: 'EndpointSlice', namespace: 'shop', name: 'imported-edge-a-web-x7k2p' },
          { endpoints: buildSlice({ endpoints: ['10.64.0.99'] }).endpoints },
        ),
    },
    {
      title: 'a certificate is renewed',
      kind: 'Secret',
      name: 'cert',
      change: (world) =>
        world.create({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'cert', namespace: 'shop' },
          type: 'kubernetes.io/tls',
          data: { 'tls.crt': 'YQ==', 'tls.key': 'Yg==' },
        } as KubernetesObject),
    },
    {
      title: 'a Service moves to other clusters',
      kind: 'ResourceBinding',
      name: 'web-service',
      change: (world) =>
        world.edit(
          { kind: 'ResourceBinding', namespace: 'shop', name: 'web-service' },
          { spec: { clusters: [{ name: 'edge-a' }] } },
        ),
    },
    {
      title: 'traffic control begins in a cluster',
      kind: 'Cluster',
      name: 'edge-b',
      change: (world) =>
        world.edit(
          { kind: 'Cluster', namespace: '', name: 'edge-b' },
          { status: { remedyActions: ['TrafficControl'] } },
          'status',
        ),
    },
  ]
  for (const { title, kind, name, change } of rows) {
    const world = createWorld({
      objects: [buildClass(), ...buildServiceWorld('web'), buildCluster('edge-a'), buildCluster('edge-b')],
    })
    await world.create(buildIngress({ spec: tls }))
    await tell(world, 'CREATE', INGRESS)
    const [before] = world.cloud.balancers()
    const fingerprint = before?.fingerprint
    await change(world)
    t.same(await tellOf(world, kind, name), { keys: kind === 'ResourceBinding' || kind === 'Service' ? 2 : 1 }, title)
    await world.clock.advance(2_000)
    t.not(world.cloud.balancers()[0]?.fingerprint, fingerprint, `${title}: the balancer follows`)
  }
})

t.test(
  'a class that appears brings its ingresses and their exports, and takes them along when it changes hands',
  async (t) => {
    const world = createWorld({ objects: [...buildServiceWorld('web')] })
    await world.create(buildIngress())
    await sweep(world)
    t.same(world.cloud.balancers(), [])
    await world.create(buildClass())
    await tellOf(world, 'IngressClass', 'multicloud', { operation: 'CREATE' })
    await world.clock.advance(1_000)
    t.equal(world.cloud.balancers().length, 1)
    const exported = () => world.read({ kind: 'ServiceExport', namespace: 'shop', name: 'web' })
    t.ok(exported())
    await world.edit(
      { kind: 'IngressClass', namespace: '', name: 'multicloud' },
      { spec: { controller: 'example.com/b' } },
    )
    await tellOf(world, 'IngressClass', 'multicloud')
    await world.clock.advance(1_000)
    t.same(world.cloud.balancers(), [])
    t.equal(exported(), undefined)
  },
)

t.test('a burst of 1,000 slice events of one Service costs at most two reconciles, and none is missed', async (t) => {
  const world = createWorld({ objects: [buildClass(), ...buildServiceWorld('web', ['edge-a'])] })
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(5_000)
  const reconciles = () =>
    world.logs.filter(
      ({ message, fields }) => message === 'reconciled' && 'outcome' in fields && fields.outcome !== 'ignored',
    ).length
  const before = reconciles()
  for (const source of ['cloudevent', 'admission'] as const) {
    for (let index = 0; index < 1_000; index += 1) {
      const slice = { ...buildSlice({ endpoints: [`10.65.${index >> 8}.${index & 255}`] }) }
      const object = { ...slice, metadata: { ...slice.metadata, name: `imported-edge-a-web-${source}-${index}` } }
      await tellOf(world, 'EndpointSlice', object.metadata.name, { source, operation: 'CREATE', object })
      await world.create(object)
    }
    await world.clock.advance(10_000)
  }
  t.ok(reconciles() - before <= 4, `${reconciles() - before} reconciles for two bursts`)
  await sweep(world)
  const updates = world.calls().filter((call) => call === 'update').length
  await sweep(world)
  t.equal(world.calls().filter((call) => call === 'update').length, updates, 'nothing was missed')
})

t.test('exports come with the first object that needs them, and go with the last', async (t) => {
  const exports = (world: World) =>
    world.core.list({ group: 'multicluster.x-k8s.io', version: 'v1alpha1', plural: 'serviceexports' }).items
  const policies = (world: World) =>
    world.core.list({ group: 'policy.karmada.io', version: 'v1alpha1', plural: 'propagationpolicies' }).items
  const world = createWorld()
  await world.create(buildIngress())
  await tell(world, 'CREATE', INGRESS)
  await world.clock.advance(1_000)
  t.match(exports(world), [
    { metadata: { name: 'web', ownerReferences: [{ kind: 'Service', name: 'web', controller: true }] } },
  ])
  t.match(policies(world), [
    {
      metadata: { name: 'propagate-service-web' },
      spec: { placement: { clusterAffinity: { clusterNames: ['edge-a', 'edge-b'] } } },
    },
  ])
  await world.edit({ kind: 'ResourceBinding', namespace: 'shop', name: 'web-service' }, { spec: { clusters: [] } })
  await tellOf(world, 'ResourceBinding', 'web-service')
  await world.clock.advance(2_000)
  t.equal(exports(world).length, 1, 'an unscheduled Service keeps its export')
  t.same(policies(world), [], 'and loses its policy: an empty list would select every cluster')
  const before = world.read(INGRESS) as KubernetesObject
  await world.remove(INGRESS)
  await tell(world, 'DELETE', INGRESS, before)
  await world.clock.advance(2_000)
  t.same(exports(world), [])
})

t.test('our own work events', async (t) => {
  const world = createWorld()
  await world.create(buildIngress())
  t.match(await world.runtime.doors.work({ key: INGRESS, hints: [] }, noAbort()), { kind: 'settled' })
  t.same(await world.runtime.doors.work({ key: { ...INGRESS, name: 'nobody' }, hints: [] }, noAbort()), {
    kind: 'gone',
  })
  t.match(
    await world.runtime.doors.work({ key: { kind: 'IngressClass', namespace: '', name: 'x' }, hints: [] }, noAbort()),
    { kind: 'ignored' },
  )
  const waitUntil = world.clock.now() + 40_000
  const hint = { object: { ...INGRESS, name: 'nobody' }, operation: 'CREATE', waitUntil } as const
  t.match(
    await world.runtime.doors.work(
      { key: hint.object, hints: [hint, { ...hint, waitUntil: waitUntil - 1 }] },
      noAbort(),
    ),
    { kind: 'later', afterMs: 50 },
  )
})

t.test('a fault of ours is one outcome among others', async (t) => {
  const world = createWorld({ wrapStore: (store) => ({ ...store, get: () => Promise.reject(new TypeError('bug')) }) })
  t.match(await world.runtime.doors.work({ key: INGRESS, hints: [] }, noAbort()), {
    kind: 'failed',
    error: { code: 'Internal' },
  })
  t.ok(world.logs.some(({ level, message }) => level === 'error' && message === 'unexpected error'))
  const odd = createWorld({ wrapStore: (store) => ({ ...store, get: () => Promise.reject('text') }) })
  t.match(await odd.runtime.doors.work({ key: INGRESS, hints: [] }, noAbort()), {
    kind: 'failed',
    error: { code: 'Internal' },
  })
})

t.test('when the queue cannot take what a sweep left, the next sweep does', async (t) => {
  const world = createWorld({ delayMs: 1_000 })
  await world.create(buildIngress())
  const draining = world.runtime.drain()
  await world.clock.advance(30_000)
  await draining
  t.match(await sweep(world), { outcomes: { later: 1 } })
  t.ok(world.logs.some(({ message }) => message === 'left to the next sweep'))
})
