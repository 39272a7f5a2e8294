import { cleanUpLeases } from '../../src/adapters/lease/clean-up-leases.ts'
import { createLeaseLock } from '../../src/adapters/lease/lease-lock.ts'
import { createMemoryWorkQueue } from '../../src/adapters/memory/memory-work-queue.ts'
import { createProcessLock } from '../../src/adapters/memory/process-lock.ts'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import type { Config } from '../../src/config/config.ts'
import type { AdmissionRequest } from '../../src/domain/admission-request.ts'
import type { ClusterEvent } from '../../src/domain/cluster-event.ts'
import type { JsonPatchOperation } from '../../src/domain/json-patch.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { SweepScope } from '../../src/domain/sweep-report.ts'
import { acceptEvent } from '../../src/flow/accept-event.ts'
import type { Flow } from '../../src/flow/flow.ts'
import { sweep } from '../../src/flow/sweep/sweep.ts'
import { workOn } from '../../src/flow/work-on.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Lock } from '../../src/ports/lock.ts'
import type { Metrics } from '../../src/ports/metrics.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { connect, type NetworkParts, type Sender } from './api-network.ts'
import { FINALIZER, LEASE_MS, LOCK_NAMESPACE, MARGIN_MS } from './sim-config.ts'

/** One process of the function: all that it knows is lost with it. */
export interface SimProcess {
  /** Unlike that of every other process that ever was. */
  id: string
  mutate(request: AdmissionRequest): JsonPatchOperation[]
  accept(event: ClusterEvent): void
  sweep(scope: SweepScope): void
  isSweeping(): boolean
}

export interface ProcessParts extends NetworkParts {
  config: Config
  lock: 'process' | 'lease'
  /** Watches the lock, on behalf of the invariants. */
  watchLock: (lock: Lock, id: string) => Lock
  mutation: { lock?: (lock: Lock) => Lock; noSweep?: boolean }
}

/** What a process is made of, beside what all have. */
export interface Composed extends Pick<Flow, 'reader' | 'reconcilers' | 'marks' | 'hosts'> {
  mutate(request: AdmissionRequest): JsonPatchOperation[]
}

const noMetrics: Metrics = { count() {}, observe() {}, set() {} }

/** `compose` is given its own connection to the API server, its clock and its lock. */
export function createSimProcess(
  sender: Sender,
  parts: ProcessParts,
  compose: (store: ClusterStore, clock: Clock, lock: Lock) => Composed,
): SimProcess {
  const { id, skewMs } = sender
  const { scheduler, config, mutation, watchLock } = parts
  const clock = scheduler.clockOf(id, skewMs)
  const { store, serverTime } = connect(sender, parts)
  const leaseOptions = {
    store,
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
  const inner = parts.lock === 'lease' ? createLeaseLock(leaseOptions) : createProcessLock(clock)
  const lock = watchLock(mutation.lock?.(inner) ?? inner, id)
  const queue = createMemoryWorkQueue({
    concurrency: 3,
    capacity: 1_000,
    workDeadlineMs: config.work.deadlineMs,
    clock,
    logger: silentLogger,
    metrics: noMetrics,
  })
  const { mutate, ...composed } = compose(store, clock, lock)
  const flow: Flow = { ...composed, queue, clock, logger: silentLogger, metrics: noMetrics }
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
    if (scope === 'all' && parts.lock === 'lease') {
      const { abandoned } = await cleanUpLeases(leaseOptions, { signal })
      for (const key of abandoned) await queue.add({ key, hints: [] })
    }
  }

  return {
    id,
    mutate,
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
