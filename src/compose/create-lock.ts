import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { cleanUpLeases, leaseHolders, removeLeases } from '../adapters/lease/clean-up-leases.ts'
import { createLeaseLock } from '../adapters/lease/lease-lock.ts'
import { createProcessLock } from '../adapters/memory/process-lock.ts'
import { sha256 } from '../adapters/system/sha256.ts'
import type { Config } from '../config/config.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { Lock } from '../ports/lock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ServerClock } from '../ports/server-clock.ts'
import type { WorkQueue } from '../ports/work-queue.ts'

export interface LockParts {
  config: Config
  store: ClusterStore
  /** Ours where it is the same clock. */
  serverClock?: ServerClock
  clock: Clock
  logger: Logger
  queue: WorkQueue
}

export interface ConfiguredLock {
  lock: Lock
  /** Removes what is left of dead holders; answers the keys that they left behind. */
  cleanUp(signal: AbortSignal): Promise<ObjectKey[]>
  /** Who works at this moment, as far as that can be seen. */
  holders(signal: AbortSignal): Promise<string[]>
  /** Removes what is left of everybody, for when nobody comes back; answers how much that was. */
  removeAll(signal: AbortSignal): Promise<number>
}

export function createLock({ config, store, serverClock, clock, logger, queue }: LockParts): ConfiguredLock {
  if (config.lock === 'none') return unshared(createProcessLock(clock))
  const { namespace, durationSeconds, marginSeconds } = config.lease
  const options = {
    store,
    serverClock: serverClock ?? { serverNow: clock.now },
    clock,
    digest: sha256,
    logger,
    namespace,
    owner: config.finalizer,
    instance: `${hostname()}_${randomUUID()}`,
    durationMs: durationSeconds * 1_000,
    marginMs: marginSeconds * 1_000,
    onAbandoned(key: ObjectKey) {
      queue.add({ key, hints: [] }).catch((error) => logger.info({ error: String(error) }, 'left to the next sweep'))
    },
  }
  return {
    lock: createLeaseLock(options),
    async cleanUp(signal) {
      const { abandoned, removed } = await cleanUpLeases(options, { signal })
      if (removed > 0) logger.info({ removed, abandoned: abandoned.length }, 'leases of dead holders removed')
      return abandoned
    },
    holders: (signal) => leaseHolders(options, { signal }),
    removeAll: async (signal) => (await removeLeases(options, { signal })).removed,
  }
}

/** Of this process alone: nobody leaves anything behind. */
function unshared(lock: Lock): ConfiguredLock {
  return { lock, cleanUp: async () => [], holders: async () => [], removeAll: async () => 0 }
}
