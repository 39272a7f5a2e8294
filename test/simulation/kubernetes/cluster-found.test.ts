import t from 'tap'
import type { Service } from '../../../src/domain/service.ts'
import { buildNode, buildWeb, FINALIZER, WEB } from '../../support/build-cluster.ts'
import { createServiceWorld, type ServiceWorld, type ServiceWorldOptions } from '../../support/service-world.ts'

// The smallest histories of what the simulation found, told by hand.

/** What somebody does between the moment that a balancer is made and the moment that it is known. */
function meanwhile(change: (world: ServiceWorld) => Promise<unknown>, options: ServiceWorldOptions = {}): ServiceWorld {
  let isDone = false
  const world: ServiceWorld = createServiceWorld({
    objects: [buildNode(1)],
    ...options,
    around: (balancer) => ({
      ...balancer,
      async ensureLoadBalancer(...given) {
        const result = await balancer.ensureLoadBalancer(...given)
        if (!isDone) await change(world)
        isDone = true
        return result
      },
    }),
  })
  return world
}

const silently = { silently: true } as const
const serviceOf = (world: ServiceWorld) => world.read<'Service'>(WEB) as Service

t.test('a Service that became of another class while it was served is not written to', async (t) => {
  const world = meanwhile(async ({ edit }) => {
    await edit(WEB, { spec: { type: 'ClusterIP' } }, silently)
    await edit(WEB, { spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/other' } }, silently)
  })
  await world.create(buildWeb({}, { finalizers: [FINALIZER] }))
  await world.settle()
  t.same(world.cluster.balancers.all(), [], 'what was made for it is gone')
  t.same(serviceOf(world).metadata.finalizers, [FINALIZER], 'the other class’s to take')
  t.same(serviceOf(world).status, { loadBalancer: {} })
})

t.test('a Service that became of another type while it was served is cleaned up at once', async (t) => {
  const world = meanwhile(({ edit }) => edit(WEB, { spec: { type: 'ClusterIP' } }, silently))
  await world.create(buildWeb())
  await world.settle()
  t.same(world.cluster.balancers.all(), [])
  t.same(serviceOf(world).metadata.finalizers ?? [], [])
})

t.test('a Service that is deleted while its balancer is made: the same turn removes it', async (t) => {
  const world = meanwhile(({ core }) =>
    core.delete(
      { group: '', version: 'v1', plural: 'services', namespace: 'default', name: 'web' },
      { user: { username: 'somebody', groups: [] } },
    ),
  )
  await world.create(buildWeb())
  await world.settle()
  t.same(world.changes(), ['ensure web [n1]', 'delete web'])
  t.equal(serviceOf(world), undefined)
})

t.test('a balancer of a Service of another type whose finalizer was taken by hand is found', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1)] })
  await world.create(buildWeb())
  await world.settle()
  await world.edit(WEB, { metadata: { finalizers: [] } }, silently)
  await world.edit(WEB, { spec: { type: 'ClusterIP' } }, silently)
  t.match(await world.sweep('services'), { orphans: { found: 1, removed: 0 } })
  await world.clock.advance(61_000)
  t.match(await world.sweep('services'), { orphans: { found: 0, removed: 1 } })
  t.same(world.cluster.balancers.all(), [])
})

t.test('of another class it may be another installation’s, and stays', async (t) => {
  const world = createServiceWorld({ objects: [buildNode(1)] })
  await world.create(buildWeb())
  await world.settle()
  await world.edit(WEB, { spec: { type: 'ClusterIP' } }, silently)
  await world.edit(WEB, { spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/other' } }, silently)
  await world.sweep()
  await world.clock.advance(61_000)
  t.match(await world.sweep(), { orphans: { found: 0, removed: 0 } })
  t.equal(world.cluster.balancers.all().length, 1)
})

t.test('once a balancer is seen nobody waits for its create any more', async (t) => {
  let failures = 1
  const world = createServiceWorld({
    objects: [buildNode(1)],
    failure: ({ method }) => {
      if (method !== 'ensureLoadBalancer' || failures-- <= 0) return undefined
      return { when: 'after', error: new Error('the connection was reset') }
    },
    around: (balancer) => ({ ...balancer, consistencyWindowMs: 600_000 }),
  })
  await world.create(buildWeb())
  await world.settle()
  await world.clock.advance(10_000)
  t.match(serviceOf(world).status?.loadBalancer?.ingress, [{ ip: '192.0.2.10' }])
  await world.remove(WEB)
  await world.settle()
  t.equal(serviceOf(world), undefined)
})

t.test('a sweep of all Services verifies what a look cannot see', async (t) => {
  for (const scope of ['all', 'services', 'pending'] as const) {
    const world = createServiceWorld({ objects: [buildNode(1)], sweeping: '{ intervalMs: 1000, periodMs: 1000 }' })
    await world.create(buildWeb())
    await world.settle()
    world.mark()
    await world.sweep(scope)
    t.same(world.changes(), scope === 'pending' ? [] : ['ensure web [n1]'], scope)
  }
})
