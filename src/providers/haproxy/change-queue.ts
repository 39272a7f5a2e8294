import { mkdir } from 'node:fs/promises'
import type { Digest } from '../../ports/digest.ts'
import { RetryAfter, Terminal } from '../../provider/errors.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { type Applied, applyConfiguration, type Haproxy, prepareStart } from './apply-configuration.ts'
import { checkBinds } from './check-binds.ts'
import { ConfigurationRefused, checkConfiguration } from './check-configuration.ts'
import { configurationFile, namedFiles } from './configuration-files.ts'
import { withDirectoryLock } from './directory-lock.ts'
import { HaproxyUnreachable } from './haproxy-socket.ts'
import { proxyName } from './proxy-name.ts'
import type { RecordStore } from './record-store.ts'
import { renderConfiguration } from './render-configuration.ts'
import type { ServedRecord } from './served-record.ts'

/** What is to become of one object's record. */
export interface Change {
  identity: BalancerIdentity
  fence: string
  /** Answers the new record, or undefined for none; throws where that cannot be. Called again on the next attempt. */
  decide(own: ServedRecord | undefined, others: readonly ServedRecord[]): ServedRecord | undefined
}

export interface Changed {
  record: ServedRecord | undefined
  /** Whether anything changed for this object, in HAProxy. */
  changed: boolean
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
  /** Where HAProxy does not answer: makes the files that it starts from what is recorded. */
  prepareStart(): Promise<void>
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
        await alone(() => makeAll(batch))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    working = false
  }

  async function alone(work: () => Promise<void>): Promise<void> {
    await mkdir(options.stateDirectory, { recursive: true, mode: 0o700 })
    await withDirectoryLock(options.stateDirectory, work)
  }

  /** Together; where HAProxy does not take that, by halves, so that one object does not stand in the way of others. */
  async function makeAll(batch: readonly Waiting[]): Promise<void> {
    try {
      await makeTogether(batch)
    } catch (error) {
      if (!(error instanceof ConfigurationRefused)) throw error
      const [only] = batch
      if (batch.length <= 1) return only?.reject(await blame(error))
      const half = Math.ceil(batch.length / 2)
      await makeAll(batch.slice(0, half))
      await makeAll(batch.slice(half))
    }
  }

  /** Whether it is the change that HAProxy does not take, or what was there before it, as when the operator's file is broken. */
  async function blame(error: ConfigurationRefused): Promise<Error> {
    const stored = renderConfiguration(await store.list(), options, digest)
    try {
      await checkConfiguration(configurationFile(stored, options), namedFiles(stored), options)
      await checkBinds(stored.text, undefined)
      return error
    } catch (before) {
      if (!(before instanceof ConfigurationRefused)) throw before
      return new Error(`HAProxy refuses what it serves already, whatever is changed: ${before.message}`)
    }
  }

  async function makeTogether(batch: readonly Waiting[]): Promise<void> {
    const stored = new Map((await store.list()).map((record) => [nameOf(record.identity), record]))
    const records = new Map(stored)
    const decided: Waiting[] = []
    for (const one of batch) if (await decideOne(one, records)) decided.push(one)
    const applied = await apply([...records.values()], [...stored.values()])
    // Recorded when it is served: what fails before was never there, and is made again by whoever asks again.
    for (const { change } of decided) {
      const name = nameOf(change.identity)
      await record(stored.get(name), records.get(name), change.fence)
    }
    for (const { change, resolve } of decided) {
      const name = nameOf(change.identity)
      const before = stored.get(name)
      const after = records.get(name)
      // Where several were made together, the record says whose it was.
      const changed = applied.by !== 'nothing' && (decided.length === 1 || !servesTheSame(before, after))
      resolve({ record: after, changed })
    }
    if (applied.leaving > 0) onLeaving()
  }

  async function decideOne({ change, reject }: Waiting, records: Map<string, ServedRecord>): Promise<boolean> {
    const name = nameOf(change.identity)
    try {
      const newest = records.get(name)?.fence ?? (await store.removalFence(change.identity))
      if (newest !== undefined && isOlder(change.fence, newest)) {
        throw new RetryAfter(1_000, 'a newer holder of the lock on this object has been here')
      }
      const others = [...records].filter(([other]) => other !== name).map(([, record]) => record)
      const record = change.decide(records.get(name), others)
      if (record === undefined) records.delete(name)
      else records.set(name, configurable(record))
      return true
    } catch (error) {
      reject(error)
      return false
    }
  }

  /** What could not be rendered is refused here, before it is among others. */
  function configurable(record: ServedRecord): ServedRecord {
    try {
      renderConfiguration([record], options, digest)
      return record
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new Terminal(`it cannot be configured: ${error.message}`)
    }
  }

  async function apply(records: readonly ServedRecord[], stored: readonly ServedRecord[]): Promise<Applied> {
    try {
      return await applyConfiguration(renderConfiguration(records, options, digest), haproxy)
    } catch (error) {
      if (error instanceof HaproxyUnreachable) {
        await prepareStart(renderConfiguration(stored, options, digest), haproxy)
      }
      throw error
    }
  }

  async function record(
    before: ServedRecord | undefined,
    after: ServedRecord | undefined,
    fence: string,
  ): Promise<void> {
    if (after !== undefined && JSON.stringify(after) !== JSON.stringify(before)) await store.write(after)
    if (after === undefined && before !== undefined) await store.remove(before, fence)
  }

  function nameOf(identity: BalancerIdentity): string {
    return proxyName(identity, digest)
  }

  return {
    make(change, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<Changed>()
      const abort = () => reject(signal.reason)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      waiting.push({ change, signal, resolve, reject })
      if (!working) void work()
      return promise.finally(() => signal.removeEventListener('abort', abort))
    },
    tidy: () => alone(() => makeTogether([])),
    prepareStart: () =>
      alone(async () => prepareStart(renderConfiguration(await store.list(), options, digest), haproxy)),
  }
}

/** Decimal numbers of any length. */
function isOlder(fence: string, other: string): boolean {
  return /^\d+$/.test(fence) && /^\d+$/.test(other) && BigInt(fence) < BigInt(other)
}

function servesTheSame(before: ServedRecord | undefined, after: ServedRecord | undefined): boolean {
  return JSON.stringify(servedBy(before)) === JSON.stringify(servedBy(after))
}

function servedBy(record: ServedRecord | undefined) {
  return record && { ...record, fence: '', fingerprint: '' }
}
