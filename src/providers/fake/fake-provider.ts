import type { LoadBalancer, MCSLoadBalancer, MultiClusterProvider } from '../../provider/multicluster.ts'
import type { ProviderFactory, ProviderSetup } from '../../provider/registry.ts'
import { createFakeCloud, type FakeCloud, type FakeCloudOptions } from './fake-cloud.ts'
import { createFakeClusterCloud } from './fake-cluster-cloud.ts'

export interface FakeProvider extends MultiClusterProvider {
  cloud: FakeCloud
}

/** A provider for trying things and for tests: everything works, at once, and in memory only. */
export function createFakeProvider(options: FakeCloudOptions): FakeProvider {
  const cloud = createFakeCloud(options)
  return { name: 'fake', cloud, loadBalancer: ingressBalancer(cloud), mcsLoadBalancer: serviceBalancer(cloud) }
}

/** `provider: { name: fake, options: { delayMs: 2000 } }`; under one cluster it has a machine for every node. */
export const fakeProviderFactory: ProviderFactory = (setup) => {
  const { clock } = setup
  const delayMs = delayOption(setup)
  const { cloudProvider } = createFakeClusterCloud({ clock, delayMs, adopt: true })
  return { ...createFakeProvider({ delayMs, failure: () => undefined, clock }), cloudProvider }
}

function delayOption({ options, fault }: ProviderSetup): number {
  for (const name of Object.keys(options)) {
    if (name !== 'delayMs') fault(name, 'the fake provider has no such option; it knows: delayMs')
  }
  const { delayMs = 0 } = options
  if (typeof delayMs === 'number' && Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= 3_600_000) return delayMs
  fault('delayMs', 'must be a whole number of milliseconds from 0 to 3600000')
  return 0
}

function ingressBalancer(cloud: FakeCloud): LoadBalancer {
  return {
    getLoadBalancer: (_ingress, context) => cloud.get(context),
    ensureLoadBalancer: async (_ingress, context) => ({ status: await cloud.ensure(context), changed: true }),
    updateLoadBalancer: (_ingress, context) => cloud.update(context),
    ensureLoadBalancerDeleted: (_ingress, context) => cloud.ensureDeleted(context),
    listLoadBalancers: async ({ clusterId }) => cloud.list(clusterId, 'MultiClusterIngress'),
  }
}

function serviceBalancer(cloud: FakeCloud): MCSLoadBalancer {
  return {
    getMCSLoadBalancer: (_service, context) => cloud.get(context),
    ensureMCSLoadBalancer: async (_service, context) => ({ status: await cloud.ensure(context), changed: true }),
    updateMCSLoadBalancer: (_service, context) => cloud.update(context),
    ensureMCSLoadBalancerDeleted: (_service, context) => cloud.ensureDeleted(context),
    listMCSLoadBalancers: async ({ clusterId }) => cloud.list(clusterId, 'MultiClusterService'),
  }
}
