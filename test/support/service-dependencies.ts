import { createProcessLock } from '../../src/adapters/memory/process-lock.ts'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Lock } from '../../src/ports/lock.ts'
import type { CloudLoadBalancer } from '../../src/provider/cloud.ts'
import { createEventRecorder } from '../../src/reconcilers/event-recorder.ts'
import type { ServiceDependencies } from '../../src/reconcilers/service/service-pass.ts'
import { silentLogger } from './silent-logger.ts'

/** Of a service reconciler on its own, without doors and queue. */
export function serviceDependencies({
  loadBalancer,
  store,
  clock,
  lock = createProcessLock(clock),
}: {
  loadBalancer: CloudLoadBalancer
  store: ClusterStore
  clock: Clock
  lock?: Lock
}): ServiceDependencies {
  const component = 'service-controller'
  return {
    loadBalancer,
    abilities: { protocols: ['TCP'], sourceRanges: false, target: 'instance' },
    clusterName: 'kubernetes',
    loadBalancerClass: undefined,
    store,
    lock,
    digest: sha256,
    recorder: createEventRecorder({ writer: store, clock, digest: sha256, logger: silentLogger, component }),
    logger: silentLogger,
    metrics: { count: () => {}, observe: () => {}, set: () => {} },
    clock,
    disowned: false,
    clusterId: 'default',
    removeOrphans: true,
    consistencyWindowMs: 0,
    providerDeadlineMs: 45_000,
  }
}
