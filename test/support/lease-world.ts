import { createServerTime } from '../../src/adapters/kubernetes/server-time.ts'
import { createLeaseLock } from '../../src/adapters/lease/lease-lock.ts'
import type { LeaseLockOptions } from '../../src/adapters/lease/lease-lock-options.ts'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import type { Lease } from '../../src/domain/lease.ts'
import { type ControlPlaneCore, createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import type { Lock } from '../../src/ports/lock.ts'
import { createMachine, type Machine } from './machine.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { silentLogger } from './silent-logger.ts'
import { type Fault, unreliableStore } from './unreliable-store.ts'

export const LOCKS = {
  namespace: 'locks',
  owner: 'webhook-cloud-provider.dev/fake',
  durationMs: 15_000,
  marginMs: 5_000,
}

/** A control plane, and any number of machines that lock objects on it. */
export interface LeaseWorld {
  /** The API server's, and the true time. */
  clock: ManualClock
  core: ControlPlaneCore
  /** Everybody's. */
  store: ClusterStore
  leases(): Lease[]
  join(name: string, options?: JoinOptions): Member
}

export interface Flaws {
  marginMs?: number
  store?: (whole: ClusterStore) => ClusterStore
}

export interface JoinOptions {
  /** How far its clock is ahead, and how fast it runs. */
  skewMs?: number
  rate?: number
  /** What happens to its next request. */
  fault?: () => Fault
  onAbandoned?: LeaseLockOptions['onAbandoned']
}

export interface Member {
  machine: Machine
  lock: Lock
  options: LeaseLockOptions
  /** `get Lease`, `create Lease` … as they were sent. */
  requests: string[]
}

const reliable = (): Fault => ({ kind: 'none' })

/** `flaws` are built into every lock, to see that a test notices. */
export function createLeaseWorld(flaws: Flaws = {}): LeaseWorld {
  const clock = createManualClock()
  let uids = 0
  const core = createControlPlaneCore({
    clock,
    uid() {
      uids += 1
      return `00000000-0000-4000-8000-${String(uids).padStart(12, '0')}`
    },
    nameSuffix: () => 'x7k2p',
    namespaces: [LOCKS.namespace, 'shop'],
  })
  const whole = createLocalClusterStore(core, 'somebody')
  const store = flaws.store?.(whole) ?? whole
  return {
    clock,
    core,
    store,
    leases: () =>
      core.list({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }).items as unknown as Lease[],
    join(name, { skewMs = 0, rate = 1, fault = reliable, onAbandoned = () => {} } = {}) {
      const machine = createMachine(clock, { skewMs, rate })
      const serverTime = createServerTime(machine.clock)
      const requests: string[] = []
      const options: LeaseLockOptions = {
        ...LOCKS,
        marginMs: flaws.marginMs ?? LOCKS.marginMs,
        store: unreliableStore(store, { clock, machine, serverTime, fault, requests }),
        serverClock: { serverNow: serverTime.now },
        clock: machine.clock,
        digest: sha256,
        logger: silentLogger,
        instance: name,
        onAbandoned,
      }
      return { machine, lock: createLeaseLock(options), options, requests }
    },
  }
}

/** The lock over any store, as it is composed. */
export function leaseLockOver(parts: {
  store: LeaseLockOptions['store']
  serverClock: LeaseLockOptions['serverClock']
  clock: Clock
  instance: string
  owner: string
}): Lock {
  return createLeaseLock({ ...LOCKS, digest: sha256, logger: silentLogger, onAbandoned: () => {}, ...parts })
}
