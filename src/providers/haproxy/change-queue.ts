import { mkdir } from 'node:fs/promises'
import type { Digest } from '../../ports/digest.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { type Applied, applyConfiguration, type Haproxy, prepareFirstStart } from './apply-configuration.ts'
import { ConfigurationRefused } from './check-configuration.ts'
import { withDirectoryLock } from './directory-lock.ts'
import { HaproxyUnreachable } from './haproxy-socket.ts'
import { proxyName } from './proxy-name.ts'
import type { RecordStore } from './record-store.ts'
import { renderConfiguration } from './render-configuration.ts'
import type { ServedRecord } from './served-record.ts'

/** What is to become of one object's record. */
export interface Change {
  identity: BalancerIdentity
  /** Answers the new record, or undefined for none; throws where that cannot be. Called again on the next attempt. */
  decide(own: ServedRecord | undefined, others: readonly ServedRecord[]): ServedRecord | undefined
}

export interface Changed {
  record: ServedRecord | undefined
  by: Applied['by']
}

/**
 * One change after the other, in this process and among all that work on the directory. Changes that came while another
 * was made are made together: one check and one reload for all of them.
 */
export interface ChangeQueue {
  /**
   * Resolves when HAProxy runs it and it is recorded. Rejects soon after the signal fires: a change that was begun is
   * finished all the same, one that waits is dropped.
   */
  make(change: Change, signal: AbortSignal): Promise<Changed>
  /** Makes HAProxy what is recorded, and takes away servers that have finished. */
  tidy(): Promise<void>
}

interface Waiting {
  change: Change
  signal: AbortSignal
  resolve(changed: Changed): void
  reject(error: unknown): void
}

export interface ChangeQueueDependencies {
  store: RecordStore
  haproxy: Haproxy
  digest: Digest
  /** Called when servers are left that finish what they have. */
  onLeaving(): void
}

export function createChangeQueue({ store, haproxy, digest, onLeaving }: ChangeQueueDependencies): ChangeQueue {
  const { options } = haproxy
  let waiting: Waiting[] = []
  let working = false

  async function work(): Promise<void> {
    working = true
    while (waiting.length > 0) {
      const batch = waiting.filter(({ signal }) => !signal.aborted)
      waiting = []
      try {
        await mkdir(options.stateDirectory, { recursive: true, mode: 0o700 })
        await withDirectoryLock(options.stateDirectory, () => makeAll(batch))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    working = false
  }

  /** Together; where HAProxy does not take that, each alone, so that one object does not stand in the way of others. */
  async function makeAll(batch: readonly Waiting[]): Promise<void> {
    try {
      await makeTogether(batch)
    } catch (error) {
      if (!(error instanceof ConfigurationRefused)) throw error
      for (const one of batch) await makeTogether([one]).catch(one.reject)
    }
  }

  async function makeTogether(batch: readonly Waiting[]): Promise<void> {
    const stored = new Map((await store.list()).map((record) => [nameOf(record.identity), record]))
    const records = new Map(stored)
    const decided = batch.filter((one) => decideOne(one, records))
    const applied = await apply([...records.values()], [...stored.values()])
    // Recorded when it is served: what fails before was never there, and is made again by whoever asks again.
    for (const name of new Set(decided.map(({ change }) => nameOf(change.identity)))) {
      await record(stored.get(name), records.get(name))
    }
    for (const { change, resolve } of decided) {
      resolve({ record: records.get(nameOf(change.identity)), by: applied.by })
    }
    if (applied.leaving > 0) onLeaving()
  }

  function decideOne({ change, reject }: Waiting, records: Map<string, ServedRecord>): boolean {
    const name = nameOf(change.identity)
    try {
      const others = [...records].filter(([other]) => other !== name).map(([, record]) => record)
      const record = change.decide(records.get(name), others)
      if (record === undefined) records.delete(name)
      else records.set(name, record)
      return true
    } catch (error) {
      reject(error)
      return false
    }
  }

  async function apply(records: readonly ServedRecord[], stored: readonly ServedRecord[]): Promise<Applied> {
    try {
      return await applyConfiguration(renderConfiguration(records, options, digest), haproxy)
    } catch (error) {
      if (error instanceof HaproxyUnreachable) {
        await prepareFirstStart(renderConfiguration(stored, options, digest), options)
      }
      throw error
    }
  }

  async function record(before: ServedRecord | undefined, after: ServedRecord | undefined): Promise<void> {
    if (after !== undefined && JSON.stringify(after) !== JSON.stringify(before)) await store.write(after)
    if (after === undefined && before !== undefined) await store.remove(before)
  }

  function nameOf(identity: BalancerIdentity): string {
    return proxyName(identity, digest)
  }

  return {
    make(change, signal) {
      return new Promise((resolve, reject) => {
        signal.throwIfAborted()
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        waiting.push({ change, signal, resolve, reject })
        if (!working) void work()
      })
    },
    tidy: () => withDirectoryLock(options.stateDirectory, () => makeTogether([])),
  }
}
