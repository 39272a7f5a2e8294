import { cleanUpLeases } from '../../src/adapters/lease/clean-up-leases.ts'
import { createLeaseLock } from '../../src/adapters/lease/lease-lock.ts'
import { createMemoryWorkQueue } from '../../src/adapters/memory/memory-work-queue.ts'
import { createProcessLock } from '../../src/adapters/memory/process-lock.ts'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import { composeReconcilers } from '../../src/compose/compose-reconcilers.ts'
import type { AdmissionRequest } from '../../src/domain/admission-request.ts'
import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import type { JsonPatchOperation } from '../../src/domain/json-patch.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { SweepScope } from '../../src/domain/sweep-report.ts'
import { acceptEvent } from '../../src/flow/accept-event.ts'
import { claimOnAdmission } from '../../src/flow/claim-on-admission.ts'
import type { Flow } from '../../src/flow/flow.ts'
import { sweep } from '../../src/flow/sweep.ts'
import { workOn } from '../../src/flow/work-on.ts'
import type { Lock } from '../../src/ports/lock.ts'
import type { Metrics } from '../../src/ports/metrics.ts'
import { CLASS_NAME } from '../support/build-objects.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { connect, type NetworkParts, type Sender } from './api-network.ts'
import type { Setting } from './history.ts'
import type { Mutation } from './mutation.ts'
import type { CloudClient, SimCloud } from './sim-cloud.ts'
import { configOf, FINALIZER, LEASE_MS, LOCK_NAMESPACE, MARGIN_MS } from './sim-config.ts'

/** One process of the function: all that it knows is lost with it. */
export interface SimInstance {
  /** Unlike that of every other process that ever was. */
  id: string
  mutate(request: AdmissionRequest): JsonPatchOperation[]
  accept(event: ClusterEvent): void
  sweep(scope: SweepScope): void
  isSweeping(): boolean
}

export interface InstanceParts extends NetworkParts {
  setting: Setting
  cloud: SimCloud
  mutation: Mutation
  /** Watches the lock, on behalf of the invariants. */
  watchLock: (lock: Lock, id: string) => Lock
}

const noMetrics: Metrics = { count() {}, observe() {}, set() {} }

export function createSimInstance({ id, skewMs, ...watcher }: Sender & CloudClient, parts: InstanceParts): SimInstance {
  const { scheduler, setting, cloud, mutation, watchLock } = parts
  const config = configOf(setting)
  const clock = scheduler.clockOf(id, skewMs)
  const { store: direct, serverTime } = connect({ id, skewMs, ...watcher }, parts)
  const honest = { store: direct, provider: cloud.providerFor({ id, ...watcher }) }
  const { store, provider } = mutation.wrap?.(honest) ?? honest
  const leaseOptions = {
    store: direct,
    serverClock: { serverNow: serverTime.now },
    clock,
    digest: sha256,
    logger: silentLogger,
    namespace: LOCK_NAMESPACE,
    owner: FINALIZER,
    instance: id,
    durationMs: LEASE_MS,
    marginMs: MARGIN_MS,
    onAbandoned: (key: ObjectKey) => void queue.add({ key, hints: [] }),
  }
  const inner = setting.lock === 'lease' ? createLeaseLock(leaseOptions) : createProcessLock(clock)
  const lock = watchLock(mutation.lock?.(inner) ?? inner, id)
  const queue = createMemoryWorkQueue({
    concurrency: 3,
    capacity: 1_000,
    workDeadlineMs: config.work.deadlineMs,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
  })
  const flow: Flow = {
    reader: store,
    queue,
    reconcilers: composeReconcilers({ config, provider, store, clock, logger: silentLogger }, lock),
    marks: { identity: config.identity, finalizer: config.finalizer },
    clock,
    logger: silentLogger,
    metrics: noMetrics,
  }
  const rules = {
    finalizer: config.finalizer,
    classNames: [CLASS_NAME],
    defaultClassIsOurs: false,
    selector: config.multiClusterServices.selector,
    serves: { MultiClusterIngress: true, MultiClusterService: true },
  }
  const { signal } = new AbortController()
  let sweeping = 0
  queue.start((item, signal) => workOn(item, flow, signal))

  async function sweepThrough(scope: SweepScope): Promise<void> {
    let token: string | undefined
    do {
      const report = await sweep(
        { scope, ...(token === undefined ? {} : { continue: token }) },
        flow,
        config.sweep,
        signal,
      )
      token = report.continue
    } while (token !== undefined)
    if (scope === 'all' && setting.lock === 'lease') {
      const { abandoned } = await cleanUpLeases(leaseOptions, { signal })
      for (const key of abandoned) await queue.add({ key, hints: [] })
    }
  }

  return {
    id,
    mutate: (request) => claimOnAdmission(request, rules),
    accept: (event) => void acceptEvent({ ...event, receivedAt: clock.now() }, flow),
    sweep(scope) {
      if (mutation.noSweep === true) return
      sweeping += 1
      const over = () => {
        sweeping -= 1
      }
      sweepThrough(scope).then(over, over)
    },
    isSweeping: () => sweeping > 0,
  }
}
