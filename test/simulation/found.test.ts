import t from 'tap'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createWorld, FINALIZER } from '../support/world.ts'

// The smallest histories of what the simulation found, told by hand.

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
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
