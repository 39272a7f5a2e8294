import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import type { Lease } from '../../domain/lease.ts'
import {
  clearPatch,
  hasNotes,
  isMarked,
  isSameHolding,
  noteOf,
  notePatch,
  renewPatch,
} from '../../domain/lease-record.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { HeldLock } from '../../ports/lock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ServerClock } from '../../ports/server-clock.ts'
import { deadline } from '../../reconcilers/deadline.ts'

export interface HeldLeaseOptions {
  store: ClusterStore
  serverClock: ServerClock
  clock: Clock
  logger: Logger
  durationMs: number
  /** What is locked, for messages. */
  key: ObjectKey
  /** As it was stored when we took it. */
  lease: Lease
  /** By our own clock, when the request that took it was sent. */
  takenAt: number
  /** Somebody asked for one more look before we took it, and nobody has looked since. */
  again: boolean
  /** It is released or lost. */
  onEnd: () => void
}

export interface HeldLease extends HeldLock {
  /** Asks for one more look from within this process; false when it is lost. */
  markAgain(): boolean
}

/**
 * Renews until it is released. By our own clock it ends `durationMs` after the last renewal was *sent*, which is before
 * anybody else may take it: they wait until that long after the renewal was stored, and a margin.
 */
export function createHeldLease(options: HeldLeaseOptions): HeldLease {
  const { store, serverClock, clock, logger, durationMs, key, takenAt, onEnd } = options
  const leaseKey = {
    kind: 'Lease',
    namespace: options.lease.metadata.namespace ?? '',
    name: options.lease.metadata.name,
  } as const
  const lost = new AbortController()
  let { lease, again } = options
  let validUntil = takenAt + durationMs
  let cancelRenewal = () => {}
  let cancelLoss = clock.after(validUntil - clock.now(), () => lose('it could not be renewed in time'))
  let released: Promise<{ again: boolean }> | undefined
  let turn: Promise<unknown> = Promise.resolve()

  /** One request after the other: each needs the version that the one before it has made. */
  function inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = turn.then(action)
    turn = result.catch(() => {})
    return result
  }

  function lose(reason: string): void {
    if (lost.signal.aborted) return
    end()
    logger.warn({ reason }, 'lock lost')
    lost.abort(new CatalogueError('Conflict', `the lock was lost: ${reason}`, { object: key }))
  }

  function end(): void {
    cancelRenewal()
    cancelLoss()
    onEnd()
  }

  function extend(sentAt: number): void {
    cancelLoss()
    validUntil = sentAt + durationMs
    cancelLoss = clock.after(validUntil - clock.now(), () => lose('it could not be renewed in time'))
  }

  function check(): void {
    if (clock.now() >= validUntil) lose('it could not be renewed in time')
    lost.signal.throwIfAborted()
  }

  /** Nothing is sent when time is up, and no answer is waited for longer. */
  async function whileValid<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    check()
    const limit = deadline(clock, validUntil - clock.now(), lost.signal)
    try {
      return await call(limit.signal)
    } finally {
      limit.cancel()
    }
  }

  /** A write of ours to exactly the version we know; a mark that came in between is taken note of. */
  async function write(change: (lease: Lease) => JsonValue): Promise<void> {
    for (;;) {
      const sentAt = clock.now()
      const body = change(lease)
      try {
        lease = await whileValid((signal) => store.patch(leaseKey, { type: 'merge', body }, { signal }))
        extend(sentAt)
        return
      } catch (error) {
        if (!isCatalogueError(error, 'Conflict') && !isCatalogueError(error, 'NotFound')) throw error
        await readAgain()
      }
    }
  }

  async function readAgain(): Promise<void> {
    const current = await whileValid((signal) => store.get(leaseKey, { signal }))
    if (current === undefined || !isSameHolding(current, lease)) lose('somebody else has it')
    lost.signal.throwIfAborted()
    lease = current ?? lease
    again ||= isMarked(lease)
  }

  function renewAfter(ms: number): void {
    cancelRenewal = clock.after(ms, () => {
      inTurn(renew).then(
        () => renewAfter(durationMs / 3),
        (error) => {
          if (lost.signal.aborted || released !== undefined) return
          logger.info({ error: String(error) }, 'lock not renewed, trying again')
          renewAfter(durationMs / 10)
        },
      )
    })
  }

  async function renew(): Promise<void> {
    if (released === undefined) await write((known) => renewPatch(known, serverClock.serverNow()))
  }

  /** True when it is certain that nobody asked without our knowing. */
  async function giveBack(): Promise<boolean> {
    let isUncertain = false
    for (let attempt = 0; attempt < 5; attempt += 1) {
      try {
        await whileValid((signal) => giveBackOnce(signal))
        return true
      } catch (error) {
        // What our own lost request has removed nobody can have marked.
        if (isCatalogueError(error, 'NotFound')) return isUncertain
        if (lost.signal.aborted) return false
        if (isCatalogueError(error, 'Conflict')) {
          if (!(await isStillOurs())) return false
        } else {
          isUncertain = true
          await pause(100 * 2 ** attempt)
        }
      }
    }
    return false
  }

  async function giveBackOnce(signal: AbortSignal): Promise<void> {
    const { uid = '', resourceVersion = '' } = lease.metadata
    if (hasNotes(lease, serverClock.serverNow()))
      await store.patch(leaseKey, { type: 'merge', body: clearPatch(lease) }, { signal })
    else await store.delete(leaseKey, { signal, preconditions: { uid, resourceVersion } })
  }

  async function isStillOurs(): Promise<boolean> {
    try {
      await readAgain()
      return true
    } catch {
      return !lost.signal.aborted
    }
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => void clock.after(ms, resolve))
  }

  async function release(): Promise<{ again: boolean }> {
    cancelRenewal()
    const isCertain = await inTurn(giveBack)
    end()
    return { again: again || !isCertain }
  }

  renewAfter(durationMs / 3)
  return {
    // The API server orders the versions of its objects; each holding begins with a write.
    fence: options.lease.metadata.resourceVersion ?? '',
    lost: lost.signal,
    check,
    now: () => serverClock.serverNow(),
    note: (name) => noteOf(lease, name),
    setNote: (name, text) => inTurn(() => write((known) => notePatch(known, name, text, serverClock.serverNow()))),
    release() {
      released ??= release()
      return released
    },
    markAgain() {
      if (lost.signal.aborted) return false
      again = true
      return true
    },
  }
}
