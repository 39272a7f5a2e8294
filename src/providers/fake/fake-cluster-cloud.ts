import type { Clock } from '../../ports/clock.ts'
import type { BalancerSupport, CloudProvider } from '../../provider/cloud.ts'
import { createFakeCallLog, type FakeClusterCall } from './fake-call-log.ts'
import type { FakeFailure } from './fake-cloud.ts'
import { createFakeMachines, type FakeMachines } from './fake-machines.ts'
import { createFakeRoutes, type FakeRoutes } from './fake-routes.ts'
import { createFakeServiceBalancers, type FakeServiceBalancers } from './fake-service-balancers.ts'

export interface FakeClusterOptions {
  clock: Clock
  /** From the create of a balancer until it has its address. */
  delayMs?: number
  /** Asked at every call: a failure to raise, or undefined. */
  failure?: (call: FakeClusterCall) => FakeFailure | undefined
  /** Whether nodes that it knows no machine for get one. */
  adopt?: boolean
  /** Of the interface; `2019` has no InstancesV2. */
  form?: 'newest' | '2019'
  hasClusterID?: boolean
  supports?: BalancerSupport
}

/** The cloud under one Kubernetes cluster, in memory: machines, zones, routes, and balancers of Services. */
export interface FakeClusterCloud {
  cloudProvider: CloudProvider
  machines: FakeMachines
  routes: FakeRoutes
  balancers: FakeServiceBalancers
  calls(): readonly FakeClusterCall[]
}

const EVERYTHING: BalancerSupport = { protocols: ['TCP', 'UDP'], sourceRanges: true }

export function createFakeClusterCloud(options: FakeClusterOptions): FakeClusterCloud {
  const { clock, delayMs = 0, failure = () => undefined, adopt = false, supports = EVERYTHING } = options
  const { form = 'newest', hasClusterID = true } = options
  const log = createFakeCallLog(failure)
  const machines = createFakeMachines({ log, clock, adopt })
  const routes = createFakeRoutes(log, machines)
  const balancers = createFakeServiceBalancers({ log, clock, delayMs, supports })
  return {
    machines,
    routes,
    balancers,
    calls: log.calls,
    cloudProvider: {
      initialize: () => undefined,
      loadBalancer: () => balancers.loadBalancer,
      instances: () => (form === '2019' ? machines.instances : undefined),
      ...(form === 'newest' && { instancesV2: () => machines.instancesV2 }),
      zones: () => (form === '2019' ? machines.zones : undefined),
      clusters: () => undefined,
      routes: () => routes.routes,
      providerName: () => 'fake',
      hasClusterID: () => hasClusterID,
    },
  }
}
