import { balancerAbilities } from '../../../src/compose/balancer-abilities.ts'
import { cloudDoors } from '../../../src/compose/cloud-doors.ts'
import { composeReconcilers } from '../../../src/compose/compose-reconcilers.ts'
import { createHostMemory } from '../../../src/flow/host-memory.ts'
import { sharedLists } from '../../../src/flow/shared-lists.ts'
import type { Lock } from '../../../src/ports/lock.ts'
import { silentLogger } from '../../support/silent-logger.ts'
import type { NetworkParts, Sender } from '../api-network.ts'
import { createSimProcess, type SimProcess } from '../sim-process.ts'
import type { ClusterMutation } from './cluster-mutation.ts'
import type { KubernetesSetting } from './history.ts'
import { configOf } from './sim-cluster.ts'
import type { ClusterCloudClient, SimClusterCloud } from './sim-cluster-cloud.ts'

export interface ClusterInstanceParts extends NetworkParts {
  setting: KubernetesSetting
  cloud: SimClusterCloud
  mutation: ClusterMutation
  /** Watches the lock, on behalf of the invariants. */
  watchLock: (lock: Lock, id: string) => Lock
}

/** A process that serves one cluster. */
export function createSimClusterInstance(
  watcher: Sender & ClusterCloudClient,
  parts: ClusterInstanceParts,
): SimProcess {
  const { setting, cloud, mutation } = parts
  const honest = configOf(setting)
  const config = mutation.config?.(honest) ?? honest
  return createSimProcess(watcher, { ...parts, config, lock: setting.lock }, (direct, clock, lock) => {
    const own = { store: direct, cloud: cloud.providerFor(watcher) }
    const wrapped = mutation.wrap?.(own) ?? own
    const store = sharedLists(wrapped.store, ['Node'])
    const loadBalancer = wrapped.cloud.loadBalancer()
    if (loadBalancer === undefined) throw new TypeError('this cloud balances')
    const provider = { name: 'fake', cloudProvider: wrapped.cloud }
    return {
      reader: store,
      reconcilers: composeReconcilers({ config, provider, store, clock, logger: silentLogger }, lock),
      marks: {
        identity: config.identity,
        finalizer: config.finalizer,
        services: { loadBalancerClass: config.cloud.loadBalancerClass },
      },
      hosts: createHostMemory(balancerAbilities(loadBalancer).target),
      mutate: cloudDoors(wrapped.cloud, config, silentLogger).mutate,
    }
  })
}
