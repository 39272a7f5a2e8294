import { composeReconcilers } from '../../src/compose/compose-reconcilers.ts'
import { claimOnAdmission } from '../../src/flow/claim-on-admission.ts'
import type { Lock } from '../../src/ports/lock.ts'
import { CLASS_NAME } from '../support/build-objects.ts'
import { silentLogger } from '../support/silent-logger.ts'
import type { NetworkParts, Sender } from './api-network.ts'
import type { Setting } from './history.ts'
import type { Mutation } from './mutation.ts'
import type { CloudClient, SimCloud } from './sim-cloud.ts'
import { configOf } from './sim-config.ts'
import { createSimProcess, type SimProcess } from './sim-process.ts'

export interface InstanceParts extends NetworkParts {
  setting: Setting
  cloud: SimCloud
  mutation: Mutation
  /** Watches the lock, on behalf of the invariants. */
  watchLock: (lock: Lock, id: string) => Lock
}

/** A process that serves balancers over clusters. */
export function createSimInstance(watcher: Sender & CloudClient, parts: InstanceParts): SimProcess {
  const { setting, cloud, mutation } = parts
  const config = configOf(setting)
  return createSimProcess(watcher, { ...parts, config, lock: setting.lock }, (direct, clock, lock) => {
    const honest = { store: direct, provider: cloud.providerFor(watcher) }
    const { store, provider } = mutation.wrap?.(honest) ?? honest
    const rules = {
      finalizer: config.finalizer,
      classNames: [CLASS_NAME],
      defaultClassIsOurs: false,
      selector: config.multiClusterServices.selector,
      serves: { MultiClusterIngress: true, MultiClusterService: true },
    }
    return {
      reader: store,
      reconcilers: composeReconcilers({ config, provider, store, clock, logger: silentLogger }, lock),
      marks: { identity: config.identity, finalizer: config.finalizer },
      mutate: (request) => claimOnAdmission(request, rules),
    }
  })
}
