import t from 'tap'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { buildNode, buildWeb, optionsOf, FINALIZER as SERVICE_FINALIZER, WEB } from '../support/build-cluster.ts'
import { buildIngress } from '../support/build-objects.ts'
import { tell } from '../support/karmada-story.ts'
import { createServiceWorld } from '../support/service-world.ts'
import { createWorld, FINALIZER } from '../support/world.ts'

// The smallest histories of what the simulation found, told by hand.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const SLICE = { kind: 'EndpointSlice', namespace: 'shop', name: 'imported-edge-a-web-x7k2p' } as const
const GO_FINALIZER = 'karmada.io/multi-cluster-ingress-controller'
const noAbort = () => new AbortController().signal

t.test('an object that was given back before its turn keeps its balancer', async (t) => {
  let isArmed = false
  const world = createWorld({
    provider(fake) {
      const { loadBalancer } = fake
      if (loadBalancer === undefined) return fake
      return {
        ...fake,
        loadBalancer: {
          ...loadBalancer,
          async getLoadBalancer(ingress, context) {
            const record = await loadBalancer.getLoadBalancer(ingress, context)
            if (isArmed) await world.edit(INGRESS, { spec: { ingressClassName: 'multicloud' } })
            isArmed = false
            return record
          },
        },
      }
    },
  })
  const sweep = () => world.runtime.doors.sweep({ scope: 'all' }, noAbort())
  await world.create(buildIngress())
  await sweep()
  const { address } = world.cloud.balancers()[0] ?? {}
  await world.edit(INGRESS, { spec: { ingressClassName: '' } })
  isArmed = true
  await sweep()
  await sweep()
  t.match(world.cloud.balancers(), [{ address }])
  t.notOk(world.calls().includes('ensureDeleted'), 'it was not deleted in between')
})

t.test('taking over, what was cleaned up half-way and is ours again is served', async (t) => {
  let isArmed = false
  const world = createWorld({
    config: 'takeOver: true',
    provider(fake) {
      const { loadBalancer } = fake
      if (loadBalancer === undefined) return fake
      return {
        ...fake,
        loadBalancer: {
          ...loadBalancer,
          async ensureLoadBalancerDeleted(ingress, context) {
            await loadBalancer.ensureLoadBalancerDeleted(ingress, context)
            if (isArmed) await world.edit(INGRESS, { spec: { ingressClassName: 'multicloud' } })
            isArmed = false
          },
        },
      }
    },
  })
  const sweep = () => world.runtime.doors.sweep({ scope: 'all' }, noAbort())
  await world.create(
    buildIngress({ metadata: { finalizers: [GO_FINALIZER] }, spec: { ...buildIngress().spec, ingressClassName: '' } }),
  )
  isArmed = true
  await sweep()
  await sweep()
  t.equal(world.cloud.balancers().length, 1)
  t.same((world.read(INGRESS) as KubernetesObject).metadata.finalizers, [FINALIZER])
})

t.test(
  'a create that comes after its second attempt was answered, and after the deletion, is waited for',
  async (t) => {
    let attempts = 0
    const late: (() => Promise<unknown>)[] = []
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
              attempts += 1
              if (attempts > 1) return loadBalancer.ensureLoadBalancer(ingress, context)
              late.push(() => loadBalancer.ensureLoadBalancer(ingress, { ...context, signal: noAbort() }))
              throw new Error('connection reset')
            },
          },
        }
      },
    })
    const sweep = () => world.runtime.doors.sweep({ scope: 'all' }, noAbort())
    await world.create(buildIngress())
    await sweep()
    await sweep()
    t.equal(attempts, 2)
    await world.remove(INGRESS)
    await sweep()
    t.same(world.read(INGRESS)?.metadata.finalizers, [FINALIZER], 'the first one may still come')
    await late[0]?.()
    await world.clock.advance(60_000)
    t.equal(world.read(INGRESS), undefined)
    t.same(world.cloud.balancers(), [])
  },
)

t.test('an ensure of a balancer that is there may come after its deletion too, and is waited for', async (t) => {
  const late: (() => Promise<unknown>)[] = []
  let isArmed = false
  const world = createServiceWorld({
    objects: [buildNode(1)],
    around: (cloud) => ({
      ...cloud,
      consistencyWindowMs: 10_000,
      async ensureLoadBalancer(name, service, nodes, context) {
        if (!isArmed) return cloud.ensureLoadBalancer(name, service, nodes, context)
        isArmed = false
        late.push(() => cloud.ensureLoadBalancer(name, service, nodes, { ...context, signal: noAbort() }))
        throw new Error('connection reset')
      },
    }),
  })
  await world.create(buildWeb())
  await world.settle()
  isArmed = true
  await world.edit(WEB, optionsOf({ algorithm: 'least-connections' }))
  await world.settle()
  await world.remove(WEB)
  await world.settle()
  t.same(world.read(WEB)?.metadata.finalizers, [SERVICE_FINALIZER], 'it may still come')
  await late[0]?.()
  await world.clock.advance(120_000)
  t.equal(world.read(WEB), undefined)
  t.same(world.cluster.balancers.all(), [])
})

t.test('a balancer that the dead bring to an object that is another’s by now is found by the sweep', async (t) => {
  const late: (() => Promise<unknown>)[] = []
  const world = createWorld({
    provider(fake) {
      const { loadBalancer } = fake
      if (loadBalancer === undefined) return fake
      return {
        ...fake,
        loadBalancer: {
          ...loadBalancer,
          async ensureLoadBalancer(ingress, context) {
            late.push(() => loadBalancer.ensureLoadBalancer(ingress, { ...context, signal: noAbort() }))
            throw new Error('killed')
          },
        },
      }
    },
  })
  const sweep = () => world.runtime.doors.sweep({ scope: 'all' }, noAbort())
  await world.create(buildIngress())
  await sweep()
  await world.edit(INGRESS, { spec: { ingressClassName: '' } })
  await sweep()
  t.same(world.read(INGRESS)?.metadata.finalizers ?? [], [])
  await late[0]?.()
  t.match(await sweep(), { orphans: { found: 1, removed: 0 } })
  await world.clock.advance(61_000)
  t.match(await sweep(), { orphans: { found: 0, removed: 1 } })
  t.same(world.cloud.balancers(), [])
  await world.edit(INGRESS, { spec: { ingressClassName: 'multicloud' } })
  await sweep()
  await late.at(-1)?.()
  t.match(await sweep(), { orphans: { found: 0, removed: 0 } }, 'one that is ours keeps it')
})

t.test('a sweep that read the endpoints before they moved does not bring the old ones back', async (t) => {
  let isArmed = false
  const world = createWorld({
    provider(fake) {
      const { loadBalancer } = fake
      if (loadBalancer === undefined) return fake
      // Where the cloud cannot list, each balancer is asked for when its ingress is looked at.
      const { listLoadBalancers, ...askedFor } = loadBalancer
      return {
        ...fake,
        loadBalancer: {
          ...askedFor,
          async getLoadBalancer(ingress, context) {
            if (isArmed) {
              isArmed = false
              await world.edit(SLICE, { endpoints: [{ addresses: ['10.64.0.99'] }] })
              await tell(world, 'cloudEvents', [{ operation: 'UPDATE', object: world.read(SLICE) as never }])
              await world.clock.advance(1_000)
            }
            return loadBalancer.getLoadBalancer(ingress, context)
          },
        },
      }
    },
  })
  const updates = () => world.handed.filter(({ method }) => method === 'update')
  for (const name of ['storefront', 'b', 'c']) await world.create(buildIngress({ metadata: { name } }))
  await tell(world, 'sweep', [])
  t.equal(updates().length, 0)
  isArmed = true
  await tell(world, 'sweep', [])
  await world.clock.advance(1_000)
  t.ok(updates().length >= 3)
  for (const { context } of updates()) t.match(JSON.stringify(context.backends), '10.64.0.99')
})
