import t from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { LoadBalancerIngress } from '../../src/domain/load-balancer-status.ts'
import type { ServiceSpec } from '../../src/domain/service.ts'
import { needsUpdate } from '../../src/domain/service-balancer/balancer-input.ts'
import { defaultLoadBalancerName } from '../../src/domain/service-balancer/default-load-balancer-name.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { CloudLoadBalancer } from '../../src/provider/cloud.ts'
import { ImplementedElsewhere, RetryAfter } from '../../src/provider/errors.ts'
import type { FakeClusterCall } from '../../src/providers/fake/fake-call-log.ts'
import { FakeApiError } from '../../src/providers/fake/fake-service-balancers.ts'
import { buildNode, buildWeb, FINALIZER, OPTION, optionsOf, WEB } from '../support/build-cluster.ts'
import { CLOUD_IDENTITY, createServiceWorld } from '../support/service-world.ts'
import { addressesOf, assertQuiet, servedWorld, throughDoors, webOf } from '../support/through-doors.ts'

// Services of type LoadBalancer: life cycle, finalizer, status. The numbers are those of the cases.

const DELETED = [
  'Normal DeletingLoadBalancer: Deleting load balancer',
  'Normal DeletedLoadBalancer: Deleted load balancer',
]
const MADE = [
  'Normal EnsuringLoadBalancer: Ensuring load balancer',
  'Normal EnsuredLoadBalancer: Ensured load balancer',
]

/** Fails the next calls of one method, one failure each. */
function failing(method: string, ...errors: Error[]) {
  return (call: FakeClusterCall) => {
    const error = call.method === method ? errors.shift() : undefined
    return error && ({ when: 'before', error } as const)
  }
}

/** Answers the next write that matches with an error, before or after it is stored. */
function failingWrites(
  isMeant: (path: string, body: unknown) => boolean,
  error: CatalogueError,
  before?: (store: ClusterStore) => Promise<void>,
) {
  let left = 1
  return (store: ClusterStore): ClusterStore => ({
    ...store,
    async patch(key, patch, options) {
      if (left > 0 && isMeant(`${key.kind}/${options.subresource ?? ''}`, patch)) {
        left -= 1
        await before?.(store)
        throw error
      }
      return store.patch(key, patch, options)
    },
  })
}

const USER = { user: { username: 'somebody', groups: [] } }

const ofStatus = (path: string, patch: unknown) =>
  path === 'Service/status' && (patch as { type: string }).type === 'merge'
const ofFinalizer = (path: string, patch: unknown) =>
  path === 'Service/status' && (patch as { type: string }).type === 'json'

throughDoors('C-01 a Service deleted while we were down is cleaned up', async (t, door) => {
  const world = await servedWorld({ door })
  await world.core.delete({ group: '', version: 'v1', plural: 'services', namespace: 'default', name: 'web' }, USER)
  if (door === 'sweep') await world.sweep()
  else await world.clock.advance(60_000)
  if (door === 'events') await world.sweep()
  t.same(world.changes(), ['delete web'])
  t.equal(webOf(world), undefined)
  t.same(world.cluster.balancers.bodies(), [])
  t.same(world.events(), DELETED)
})

t.test('C-02 a crash between the delete in the cloud and the release', async (t) => {
  const world = await servedWorld({
    wrapStore: failingWrites(
      (path, patch) => ofFinalizer(path, patch) && JSON.stringify(patch).includes('remove'),
      new CatalogueError('ApiTimeout', 'gone'),
    ),
  })
  await world.remove(WEB)
  await world.settle()
  t.same(world.changes(), ['delete web'])
  world.mark()
  await world.clock.advance(10_000)
  t.same(world.calls().at(-1), 'get web')
  t.same(world.changes(), [], 'no second delete')
  t.equal(webOf(world), undefined)
  t.match(world.events().at(-1), 'Normal DeletedLoadBalancer')
})

throughDoors('C-03 another type: balancer, finalizer and status go, the Service stays', async (t, door) => {
  const world = await servedWorld({ door })
  await world.edit(WEB, { spec: { type: 'ClusterIP' } })
  await world.settle()
  t.same(world.changes(), ['delete web'])
  t.match(webOf(world), { spec: { type: 'ClusterIP' } })
  t.same(webOf(world)?.metadata.finalizers ?? [], [])
  t.same(webOf(world)?.status?.loadBalancer, {})
  t.same(world.events(), DELETED)
  await assertQuiet(t, world)
})

throughDoors('C-04 a flip of the type shows no address that is gone', async (t, door) => {
  const world = await servedWorld({ door })
  await world.edit(WEB, { spec: { type: 'ClusterIP' } })
  await world.edit(WEB, { spec: { type: 'LoadBalancer' } })
  await world.settle()
  t.same(
    addressesOf(world),
    world.cluster.balancers.all().map(({ address }) => address),
  )
  t.same(webOf(world)?.metadata.finalizers, [FINALIZER])

  await world.edit(WEB, { spec: { type: 'ClusterIP' } })
  await world.settle()
  await world.edit(WEB, { spec: { type: 'LoadBalancer' } })
  await world.settle()
  t.same(addressesOf(world), ['192.0.2.11'], 'the balancer in between is gone, and its address')
})

t.test('C-06 a finalizer taken by hand', async (t) => {
  await t.test('is put back before the cloud is called again', async (t) => {
    const world = await servedWorld({ door: 'reviews' })
    await world.edit(WEB, { metadata: { finalizers: null } })
    await world.settle()
    t.same(webOf(world)?.metadata.finalizers, [FINALIZER])
    t.same(world.writes(), ['patch Service/status'])
  })
  for (const door of ['reviews', 'events'] as const) {
    await t.test(`and the object with it: the provider's own record names uid and key (${door})`, async (t) => {
      const world = await servedWorld({ door })
      await world.edit(WEB, { metadata: { finalizers: null } }, { silently: true })
      await world.remove(WEB)
      await world.settle()
      t.equal(webOf(world), undefined)
      t.same(world.changes(), ['delete web'])
    })
  }
  await t.test('and nobody told: reported at the first sighting, removed at the second', async (t) => {
    const world = await servedWorld({ door: 'sweep' })
    await world.edit(WEB, { metadata: { finalizers: null } })
    await world.remove(WEB)
    t.same((await world.sweep()).orphans, { found: 1, removed: 0 })
    t.equal(world.cluster.balancers.all().length, 1)
    await world.clock.advance(61_000)
    t.same((await world.sweep()).orphans, { found: 0, removed: 1 })
    t.same(world.cluster.balancers.all(), [])
  })
  await t.test('a deletion of another uid removes nothing', async (t) => {
    const world = await servedWorld({ door: 'events' })
    const event = {
      source: 'cloudevent',
      operation: 'DELETE',
      group: '',
      ...WEB,
      receivedAt: world.clock.now(),
    } as const
    const oldObject = buildWeb({}, { uid: 'somebody-else' })
    await world.runtime.doors.acceptEvent({ ...event, oldObject })
    await world.settle()
    t.same(world.changes(), [])
  })
})

throughDoors('C-07 other types never reach the cloud', async (t, door) => {
  for (const spec of [
    { type: 'ClusterIP' },
    { type: 'NodePort' },
    { type: 'ExternalName', externalName: 'a.example' },
  ]) {
    const world = createServiceWorld({ door, objects: [buildNode(1)] })
    await world.create(buildWeb(spec))
    await world.settle()
    await world.edit(WEB, { metadata: { annotations: { a: '1' } } })
    await world.settle()
    await world.sweep()
    t.same([world.calls().filter((call) => call !== 'list kubernetes'), world.writes()], [[], []], spec.type)
  }
})

throughDoors('C-08 another class is not touched', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  await world.create(buildWeb({ loadBalancerClass: 'example.com/other' }))
  await world.settle()
  await world.edit(WEB, { spec: { ports: [{ name: 'http', port: 81 }] } })
  await world.settle()
  await world.sweep()
  t.same([world.calls().filter((call) => call !== 'list kubernetes'), world.writes()], [[], []])
  t.same(webOf(world)?.metadata.finalizers ?? [], [])
})

throughDoors('C-08 a class of our own is served in the place of no class', async (t, door) => {
  const config = 'cloud: { controllers: [service], loadBalancerClass: example.com/ours }'
  const world = createServiceWorld({ door, config, objects: [buildNode(1)] })
  await world.create(buildWeb())
  await world.create(buildWeb({ loadBalancerClass: 'example.com/ours' }, { name: 'ours' }))
  await world.settle()
  t.same(world.changes(), ['ensure ours [n1]'])
})

throughDoors('C-09 the finalizer of another class is left to it', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  await world.create(buildWeb({ loadBalancerClass: 'example.com/other' }, { finalizers: [FINALIZER] }))
  await world.remove(WEB)
  await world.settle()
  t.same(webOf(world)?.metadata.finalizers, [FINALIZER])
  t.same([world.changes(), world.writes()], [[], []])
})

throughDoors('C-11 a balancer that the cloud does not find is absent', async (t, door) => {
  let missing = false
  const world = await servedWorld({
    door,
    failure: ({ method }) =>
      missing && method === 'getLoadBalancer' ? { when: 'before', error: new FakeApiError(404) } : undefined,
  })
  missing = true
  await world.remove(WEB)
  await world.settle()
  t.equal(webOf(world), undefined)
  t.same(world.changes(), [])
  t.equal(world.runtime.queue.size(), 0)
})

t.test('C-12 a deletion that races with one in the cloud', async (t) => {
  const gone = await servedWorld({ failure: failing('ensureLoadBalancerDeleted', new FakeApiError(404)) })
  await gone.remove(WEB)
  await gone.settle()
  t.equal(webOf(gone), undefined, '404 is success')

  const broken = await servedWorld({
    failure: failing('ensureLoadBalancerDeleted', new FakeApiError(500), new FakeApiError(404)),
  })
  await broken.remove(WEB)
  await broken.settle()
  t.same(webOf(broken)?.metadata.finalizers, [FINALIZER])
  t.equal(
    broken.events().at(-1),
    'Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to delete load balancer: the cloud answered 500',
  )
  await broken.clock.advance(5_000)
  t.equal(webOf(broken), undefined, 'tried again after 5 s')
})

t.test('C-13 a balancer that is half deleted exists', async (t) => {
  const world = await servedWorld({
    failure: ({ method }) => {
      if (method !== 'ensureLoadBalancerDeleted' || failures === 0) return undefined
      failures -= 1
      for (const part of world.cluster.balancers.all()) part.made.ports = []
      return { when: 'before', error: new FakeApiError(409) }
    },
  })
  let failures = 1
  await world.remove(WEB)
  await world.settle()
  t.same(webOf(world)?.metadata.finalizers, [FINALIZER])
  await world.clock.advance(5_000)
  t.equal(webOf(world), undefined)
  t.same(world.changes(), ['delete web', 'delete web'])
})

throughDoors('C-14 a balancer in ERROR can be deleted', async (t, door) => {
  const world = await servedWorld({ door })
  for (const body of world.cluster.balancers.bodies()) body.state = 'error'
  await world.remove(WEB)
  await world.settle()
  t.equal(webOf(world), undefined)
  t.same(world.cluster.balancers.bodies(), [])
})

t.test('C-16 a conflict on the status is told and tried again', async (t) => {
  const world = createServiceWorld({
    objects: [buildNode(1)],
    wrapStore: failingWrites(ofStatus, new CatalogueError('Conflict', 'the object has been modified')),
  })
  await world.create(buildWeb())
  await world.settle()
  const message = 'failed to update load balancer status: the object has been modified'
  t.ok(world.events().includes(`Warning SyncLoadBalancerFailed: Error syncing load balancer: ${message}`))
  t.same(addressesOf(world), ['192.0.2.10'])
  t.same(world.changes(), ['ensure web [n1]'], 'made once')
})

t.test('C-17 a Service that is gone at the status patch', async (t) => {
  const world = createServiceWorld({
    objects: [buildNode(1)],
    wrapStore: failingWrites(ofStatus, new CatalogueError('NotFound', 'not found'), async () => {
      await world.edit(WEB, { metadata: { finalizers: null } }, { silently: true })
      await world.core.delete({ group: '', version: 'v1', plural: 'services', namespace: 'default', name: 'web' }, USER)
    }),
  })
  await world.create(buildWeb())
  await world.settle()
  t.same(world.changes(), ['ensure web [n1]', 'delete web'])
  t.same(world.cluster.balancers.bodies(), [])
  t.same(world.events(), MADE, 'no Warning')
  t.equal(world.runtime.queue.size(), 0)
})

throughDoors('C-18 a status that another wiped is published again', async (t, door) => {
  const world = await servedWorld({ door })
  await world.edit(WEB, { status: { loadBalancer: { ingress: null } } }, { subresource: 'status' })
  await world.settle()
  t.same(webOf(world)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.10', ipMode: 'VIP' }])
  t.same([world.changes(), world.writes()], [[], ['patch Service/status']])
})

throughDoors('C-19 a new Service of the old name has a balancer of its own', async (t, door) => {
  const world = await servedWorld({ door })
  const first = webOf(world)
  await world.remove(WEB)
  await world.settle()
  await world.create(buildWeb())
  await world.settle()
  t.same(addressesOf(world), ['192.0.2.11'])
  const event = { source: 'cloudevent', operation: 'DELETE', group: '', ...WEB, receivedAt: world.clock.now() } as const
  world.mark()
  await world.runtime.doors.acceptEvent({ ...event, ...(first && { oldObject: first }) })
  await world.settle()
  t.same(world.changes(), [], 'a late word of the first one’s deletion')
  t.same(
    world.cluster.balancers.all().map(({ identity }) => identity.uid),
    [webOf(world)?.metadata.uid],
  )
})

throughDoors('C-21 the default of ipMode makes no write', async (t, door) => {
  const world = await servedWorld({ door })
  t.same(webOf(world)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.10', ipMode: 'VIP' }])
  await assertQuiet(t, world)
})

throughDoors(
  'R-SVC-13 a port in error, and a hostname, are published as soon as they are reported',
  async (t, door) => {
    let entry: LoadBalancerIngress = { ip: '192.0.2.10' }
    const world = await servedWorld({
      door,
      around: (cloud) => ({
        ...cloud,
        getLoadBalancer: async (...call) => {
          const record = await cloud.getLoadBalancer(...call)
          return record && { ...record, status: { ingress: [entry] } }
        },
      }),
    })
    for (const reported of [
      { ports: [{ port: 80, protocol: 'TCP', error: 'example.com/in-use' }] },
      { hostname: 'a.b' },
    ]) {
      entry = { ...entry, ...reported }
      await world.sweep()
      t.match(webOf(world)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.10', ...reported }])
      world.mark()
      await world.sweep()
      t.same(world.writes(), [])
    }
  },
)

throughDoors('C-22 a mode without an address is not published', async (t, door) => {
  const world = await servedWorld({
    door,
    around: (cloud) => ({
      ...cloud,
      getLoadBalancer: async (...call) => {
        const record = await cloud.getLoadBalancer(...call)
        return record && { ...record, status: { ingress: [{ hostname: 'lb.example.net', ipMode: 'Proxy' }] } }
      },
      ensureLoadBalancer: async (...call) => ({
        ...(await cloud.ensureLoadBalancer(...call)),
        status: { ingress: [{ hostname: 'lb.example.net', ipMode: 'Proxy' }] },
      }),
    }),
  })
  t.same(webOf(world)?.status?.loadBalancer?.ingress, [{ hostname: 'lb.example.net' }])
  await assertQuiet(t, world)
})

throughDoors('C-23 the proxy protocol is published as ipMode Proxy', async (t, door) => {
  const world = await servedWorld({ door, annotations: { [`${OPTION}proxy-protocol`]: 'v2' } })
  t.same(webOf(world)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.10', ipMode: 'Proxy' }])
  await world.edit(WEB, optionsOf({ 'proxy-protocol': null }))
  await world.settle()
  t.same(webOf(world)?.status?.loadBalancer?.ingress, [{ ip: '192.0.2.10', ipMode: 'VIP' }])
  t.same(world.writes(), ['patch Service/status'])
})

throughDoors('C-24 a hostname in the place of the address', async (t, door) => {
  const world = await servedWorld({ door })
  await world.edit(WEB, optionsOf({ hostname: 'lb.example.net' }))
  await world.settle()
  t.same(webOf(world)?.status?.loadBalancer?.ingress, [{ hostname: 'lb.example.net' }])
  await assertQuiet(t, world)
  await world.edit(WEB, optionsOf({ hostname: null }))
  await world.settle()
  t.same(addressesOf(world), ['192.0.2.10'])
})

t.test('C-26 failures are tried again with growing patience', async (t) => {
  const at: number[] = []
  const world = createServiceWorld({
    objects: [buildNode(1)],
    failure: ({ method, about }) => {
      if (method !== 'ensureLoadBalancer' || about !== 'default/web') return undefined
      at.push(world.clock.now())
      return at.length <= 9 ? { when: 'before', error: new Error('quota') } : undefined
    },
  })
  await world.create(buildWeb())
  await world.create(buildWeb({}, { name: 'other' }))
  await world.clock.advance(2_000_000)
  const waits = at.slice(1).map((time, index) => (time - (at[index] ?? 0)) / 1000)
  t.same(waits, [5, 10, 20, 40, 80, 160, 300, 300, 300])
  t.same(addressesOf(world).length, 1)
  t.equal(world.changes().filter((call) => call === 'ensure other [n1]').length, 1, 'another key is not concerned')
  t.equal(world.events().filter((event) => event.startsWith('Warning')).length, 1, 'the same failure is told once')
  await world.edit(WEB, { metadata: { annotations: { a: '1' } } })
  at.length = 8
  await world.settle()
  t.same(at.slice(8).length, 1)
  await world.clock.advance(5_000)
  t.equal(at.length, 10, 'a success starts the count anew')
})

t.test('C-27 RetryAfter is honoured, when deleting too', async (t) => {
  const world = await servedWorld({ failure: failing('ensureLoadBalancerDeleted', new RetryAfter(10_000)) })
  await world.remove(WEB)
  await world.settle()
  await world.clock.advance(6_000)
  t.same(webOf(world)?.metadata.finalizers, [FINALIZER], 'not before its time')
  await world.clock.advance(2_000)
  t.equal(webOf(world), undefined)
  t.notOk(world.events().some((event) => event.startsWith('Warning')))

  const making = createServiceWorld({
    objects: [buildNode(1)],
    failure: failing('ensureLoadBalancer', new RetryAfter(60_000)),
  })
  await making.create(buildWeb())
  await making.clock.advance(60_000)
  t.same(making.changes().length, 1)
  await making.clock.advance(1_000)
  t.same(addressesOf(making), ['192.0.2.10'])
})

throughDoors('C-28 a Service that is served elsewhere', async (t, door) => {
  const elsewhere = async () => {
    throw new ImplementedElsewhere()
  }
  // The contract asks for "not found" from get; who says elsewhere there too is understood.
  for (const getLoadBalancer of [async () => undefined, elsewhere]) {
    const around = (cloud: CloudLoadBalancer) => ({ ...cloud, getLoadBalancer, ensureLoadBalancer: elsewhere })
    const world = createServiceWorld({ door, objects: [buildNode(1)], around })
    await world.create(buildWeb())
    await world.settle()
    t.same(webOf(world)?.metadata.finalizers, [FINALIZER])
    t.same([addressesOf(world), world.runtime.queue.size()], [[], 0])
    t.notOk(world.events().some((event) => /Ensured|Warning/.test(event)))
    await world.remove(WEB)
    await world.settle()
    t.equal(webOf(world), undefined)
  }

  const later = await servedWorld({ door, failure: failing('updateLoadBalancer', new ImplementedElsewhere()) })
  await later.create(buildNode(3))
  await later.settle()
  await later.clock.advance(60_000)
  t.same([later.events(), later.changes()], [[], ['update web [n1 n2 n3]']])
  const leaving = await servedWorld({ door, failure: failing('ensureLoadBalancerDeleted', new ImplementedElsewhere()) })
  await leaving.remove(WEB)
  await leaving.settle()
  t.equal(webOf(leaving), undefined)
})

throughDoors('C-29 no status leaves what is there, an empty one clears it', async (t, door) => {
  let answer: { status?: { ingress: [] } } | undefined
  const world = await servedWorld({
    door,
    around: (cloud) => ({
      ...cloud,
      getLoadBalancer: async (...call) => {
        const record = await cloud.getLoadBalancer(...call)
        return answer === undefined ? record : {}
      },
      ensureLoadBalancer: async (...call) => answer ?? cloud.ensureLoadBalancer(...call),
    }),
  })
  answer = {}
  await world.edit(WEB, { metadata: { annotations: { a: '1' } } })
  await world.settle()
  t.same([addressesOf(world), world.writes(), world.runtime.queue.size()], [['192.0.2.10'], [], 0])
  t.notOk(world.events().some((event) => event.startsWith('Warning')))
  answer = { status: { ingress: [] } }
  await world.edit(WEB, { metadata: { annotations: { a: '2' } } })
  await world.settle()
  t.same(webOf(world)?.status?.loadBalancer, {})
  t.same(world.writes(), ['patch Service/status'])
})

for (const [form, nothing] of [
  ['undefined', undefined],
  ['null', null],
] as const) {
  throughDoors(`C-29 a provider in the form of Go answers ${form} where there is nothing to tell`, async (t, door) => {
    const world = createServiceWorld({
      door,
      objects: [buildNode(1)],
      around: (cloud) => ({
        ...cloud,
        getLoadBalancer: async (...call) => (await cloud.getLoadBalancer(...call)) ?? (nothing as undefined),
        ensureLoadBalancer: (...call) => cloud.ensureLoadBalancer(...call).then(() => nothing as undefined),
        updateLoadBalancer: async (...call) => {
          await cloud.updateLoadBalancer(...call)
        },
      }),
    })
    await world.create(buildWeb())
    await world.settle()
    t.same(world.events(), MADE)
    t.same(world.runtime.queue.size(), 0)
    world.mark()
    await world.create(buildNode(2))
    await world.settle()
    await world.clock.advance(60_000)
    t.same(world.changes(), ['update web [n1 n2]'], 'not tried again')
    t.same(world.events(), ['Normal UpdatedLoadBalancer: Updated load balancer with new hosts'])
  })
}

t.test('C-31 finalizers of others stay', async (t) => {
  let interfere = true
  const world = createServiceWorld({
    objects: [buildNode(1)],
    wrapStore: (store) => ({
      ...store,
      async patch(key, patch, options) {
        if (interfere) {
          interfere = false
          await world.edit(WEB, { metadata: { finalizers: ['example.com/hold', 'example.com/x'] } }, { silently: true })
        }
        return store.patch(key, patch, options)
      },
    }),
  })
  await world.create(buildWeb({}, { finalizers: ['example.com/hold'] }))
  await world.settle()
  t.same(webOf(world)?.metadata.finalizers, ['example.com/hold', 'example.com/x', FINALIZER])
  await world.remove(WEB)
  await world.settle()
  t.same(webOf(world)?.metadata.finalizers, ['example.com/hold', 'example.com/x'])
  t.same(world.cluster.balancers.all(), [])
})

t.test('C-32 what wakes us', async (t) => {
  const [first, second] = [
    { name: 'a', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 },
    { name: 'b', protocol: 'TCP', port: 81, targetPort: 8081, nodePort: 30081 },
  ]
  const base = buildWeb({
    ports: [first, second],
    externalIPs: ['192.0.2.1', '192.0.2.2'],
    ipFamilies: ['IPv4', 'IPv6'],
  })
  const withSpec = (spec: ServiceSpec) => ({ ...base, spec: { ...base.spec, ...spec } })
  const woken: Record<string, KubernetesObject> = {
    'order of ports': withSpec({ ports: [second, first] }),
    'name of a port': withSpec({ ports: [{ ...first, name: 'c' }, second] }),
    protocol: withSpec({ ports: [{ ...first, protocol: 'UDP' }, second] }),
    port: withSpec({ ports: [{ ...first, port: 8000 }, second] }),
    appProtocol: withSpec({ ports: [{ ...first, appProtocol: 'http' }, second] }),
    targetPort: withSpec({ ports: [{ ...first, targetPort: 'web' }, second] }),
    nodePort: withSpec({ ports: [{ ...first, nodePort: 30090 }, second] }),
    'fewer ports': withSpec({ ports: [first] }),
    sourceRanges: withSpec({ loadBalancerSourceRanges: ['198.51.100.0/24'] }),
    'source ranges, empty': withSpec({ loadBalancerSourceRanges: [] }),
    affinity: withSpec({ sessionAffinity: 'ClientIP' }),
    'timeout of the affinity': withSpec({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }),
    loadBalancerIP: withSpec({ loadBalancerIP: '192.0.2.9' }),
    'order of external addresses': withSpec({ externalIPs: ['192.0.2.2', '192.0.2.1'] }),
    'an annotation': { ...base, metadata: { ...base.metadata, annotations: { a: '1' } } },
    uid: { ...base, metadata: { ...base.metadata, uid: 'other' } },
    externalTrafficPolicy: withSpec({ externalTrafficPolicy: 'Local' }),
    healthCheckNodePort: withSpec({ healthCheckNodePort: 32000 }),
    'fewer families': withSpec({ ipFamilies: ['IPv4'] }),
    type: withSpec({ type: 'ClusterIP' }),
  }
  const asleep: Record<string, KubernetesObject> = {
    'order of families': withSpec({ ipFamilies: ['IPv6', 'IPv4'] }),
    labels: { ...base, metadata: { ...base.metadata, labels: { a: '1' } } },
    selector: withSpec({ selector: { app: 'web' } }),
    internalTrafficPolicy: withSpec({ internalTrafficPolicy: 'Local' }),
    allocateLoadBalancerNodePorts: withSpec({ allocateLoadBalancerNodePorts: false }),
    finalizers: { ...base, metadata: { ...base.metadata, finalizers: ['example.com/x'] } },
  }
  for (const [title, changed] of Object.entries(woken)) t.ok(needsUpdate(base, changed, undefined), title)
  for (const [title, changed] of Object.entries(asleep)) t.notOk(needsUpdate(base, changed, undefined), title)
  const world = await servedWorld({ door: 'reviews' })
  await world.edit(WEB, {
    metadata: { labels: { a: '1' } },
    spec: { selector: { app: 'x' }, internalTrafficPolicy: 'Local' },
  })
  await world.settle()
  t.same(world.calls(), [], 'no review of these becomes work')
  await assertQuiet(t, world)
})

const TCP_AND_UDP = [
  { name: 'tcp', protocol: 'TCP', port: 443, nodePort: 31443 },
  { name: 'udp', protocol: 'UDP', port: 443, nodePort: 31443 },
]

for (const { title, ports, protocol, field } of [
  {
    title: 'C-33 a port of a protocol that is not supported fails the Service',
    ports: TCP_AND_UDP,
    protocol: 'UDP',
    field: 'spec.ports[1].protocol',
  },
  {
    title: 'C-34 and so does the only one',
    ports: [{ protocol: 'SCTP', port: 80, nodePort: 30080 }],
    protocol: 'SCTP',
    field: 'spec.ports[0].protocol',
  },
]) {
  throughDoors(title, async (t, door) => {
    const world = createServiceWorld({ door, objects: [buildNode(1)], supports: { protocols: ['TCP'] } })
    const service = buildWeb({ ports })
    if (door === 'reviews') {
      await t.rejects(world.create(service), new RegExp(`${protocol}.*supported values: TCP`), 'refused with the field')
      return
    }
    await world.create(service)
    await world.settle()
    t.same(world.cluster.balancers.bodies(), [], 'nothing is programmed')
    t.match(world.events(), [
      `Warning SyncLoadBalancerFailed: Error syncing load balancer: failed to ensure load balancer: ${field}: Unsupported value: "${protocol}": port ${ports.at(-1)?.port}: supported values: TCP`,
    ])
    await world.clock.advance(600_000)
    t.equal(world.events().length, 1, 'told once')
  })
}

throughDoors('C-36 without node ports nobody is sent to port 0', async (t, door) => {
  const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }]
  const world = await servedWorld({ door, spec: { ports, allocateLoadBalancerNodePorts: false } })
  t.same(
    world.cluster.balancers.all().map(({ made }) => made.ports),
    [[]],
  )
  const service = webOf(world)
  t.notOk(service?.spec?.ports?.[0]?.nodePort)
  await world.edit(WEB, { spec: { allocateLoadBalancerNodePorts: true, ports: [{ ...ports[0], nodePort: 30080 }] } })
  await world.settle()
  t.same(
    world.cluster.balancers.all().map(({ made }) => made.ports),
    [['TCP 80 → 30080']],
  )
})

t.test('C-36 and the owner is told', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1)] })
  await world.create(buildWeb({ ports: [{ port: 80 }], allocateLoadBalancerNodePorts: false }))
  await world.settle()
  t.match(world.events()[1], /^Warning PortNotServed: port 80\/TCP has no node port/)
})

t.test('C-56 the name of a balancer', async (t) => {
  const service = buildWeb({}, { uid: '11111111-2222-3333-4444-555555555555' })
  t.equal(defaultLoadBalancerName(service), 'a1111111122223333444455555555555')
})

throughDoors('a Service in deletion that nobody holds is left alone', async (t, door) => {
  const world = createServiceWorld({ door, objects: [buildNode(1)] })
  await world.create(buildWeb({}, { finalizers: ['example.com/hold'] }))
  if (door !== 'sweep') await world.settle()
  await world.edit(
    WEB,
    { metadata: { finalizers: ['example.com/hold'] } },
    { silently: true, username: CLOUD_IDENTITY },
  )
  await world.remove(WEB)
  world.mark()
  await world.sweep()
  await world.settle()
  t.notOk(world.changes().some((call) => call.startsWith('ensure')))
  t.same(webOf(world)?.metadata.finalizers, ['example.com/hold'])
})

t.test('no finalizer, no balancer: the claim is refused', async (t) => {
  const world = createServiceWorld({
    objects: [buildNode(1)],
    wrapStore: failingWrites(
      ofFinalizer,
      new CatalogueError('ApiForbidden', 'cannot patch resource "services/status"'),
    ),
  })
  await world.create(buildWeb())
  await world.settle()
  t.same(world.changes(), [])
  t.match(world.events()[1], /failed to add load balancer cleanup finalizer: cannot patch resource "services\/status"/)
  await world.clock.advance(5_000)
  t.same(addressesOf(world), ['192.0.2.10'])
})
