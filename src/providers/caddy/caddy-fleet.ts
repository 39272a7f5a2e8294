import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { RetryAfter } from '../../provider/errors.ts'
import { applyEdits, type BalancerEdit, type CaddySettings, type EditResult } from './apply-edits.ts'
import type { CaddyAdmin } from './caddy-admin.ts'
import type { CaddyConfiguration } from './caddy-configuration.ts'
import { CaddyFailure } from './caddy-failure.ts'
import { smallestChange } from './smallest-change.ts'

/** One Caddy, or several that serve the same. */
export interface CaddyFleet {
  /**
   * Makes the edit on every Caddy. Rejects where one of them could not be asked, also if it was made on the others; an
   * edit that is aborted may be made all the same, and is seen by the next read.
   */
  submit(edit: BalancerEdit, signal: AbortSignal): Promise<Extract<EditResult, { kind: 'done' }>>
}

export interface CaddyFleetOptions {
  admins: readonly CaddyAdmin[]
  settings(): Promise<CaddySettings>
  clock: Clock
  logger: Logger
}

/** How often a change starts over because somebody else's came first. */
const ATTEMPTS = 10
const LATER_MS = 2_000

/**
 * Changes of one process go one after the other, and those that come meanwhile wait and are made together: Caddy loads
 * its whole configuration for each change, and drops idle connections. Changes of other processes and people are noticed
 * by the ETag; then everything is read and rendered anew, so nobody's change is undone.
 */
export function createCaddyFleet(options: CaddyFleetOptions): CaddyFleet {
  let waiting: Submission[] = []
  let isWorking = false

  async function work(): Promise<void> {
    isWorking = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await commit(batch, options)
    }
    isWorking = false
  }

  return {
    async submit(edit, signal) {
      signal.throwIfAborted()
      const submission = createSubmission(edit, signal)
      waiting.push(submission)
      if (!isWorking) void work()
      return submission.result
    },
  }
}

interface Submission {
  edit: BalancerEdit
  signal: AbortSignal
  result: Promise<Extract<EditResult, { kind: 'done' }>>
  resolve(result: Extract<EditResult, { kind: 'done' }>): void
  reject(error: unknown): void
}

/** Is settled as soon as its caller has no more time, whatever becomes of it. */
function createSubmission(edit: BalancerEdit, signal: AbortSignal): Submission {
  const { promise, resolve, reject } = Promise.withResolvers<Extract<EditResult, { kind: 'done' }>>()
  const abandoned = () => reject(signal.reason)
  signal.addEventListener('abort', abandoned, { once: true })
  const done = () => signal.removeEventListener('abort', abandoned)
  promise.then(done, done)
  return { edit, signal, result: promise, resolve, reject }
}

/** Settles every submission; never rejects. */
async function commit(batch: readonly Submission[], options: CaddyFleetOptions): Promise<void> {
  const wanted = batch.filter(({ signal }) => !signal.aborted)
  if (wanted.length === 0) return
  const { signal, release } = whileAnybodyWaits(wanted)
  try {
    const results = await change(
      wanted.map(({ edit }) => edit),
      signal,
      options,
    )
    for (const [index, { resolve, reject }] of wanted.entries()) {
      const result = results[index]
      if (result?.kind === 'done') resolve(result)
      else reject(result?.error)
    }
  } catch (error) {
    // One of them may be what Caddy refuses: the others must not wait for its cure.
    if (wanted.length > 1 && error instanceof CaddyFailure && error.reason === 'refused') {
      for (const one of wanted) await commit([one], options)
    } else {
      for (const { reject } of wanted) reject(error)
    }
  } finally {
    release()
  }
}

/** Aborted when nobody of them waits any more. */
function whileAnybodyWaits(submissions: readonly Submission[]): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const look = () => {
    if (submissions.every(({ signal }) => signal.aborted)) controller.abort(submissions[0]?.signal.reason)
  }
  for (const { signal } of submissions) signal.addEventListener('abort', look)
  return {
    signal: controller.signal,
    release() {
      for (const { signal } of submissions) signal.removeEventListener('abort', look)
    },
  }
}

/** Reads, renders and writes until nobody else's change comes between. At most one write that counts on each Caddy. */
async function change(
  edits: readonly BalancerEdit[],
  signal: AbortSignal,
  { admins, settings, clock, logger }: CaddyFleetOptions,
): Promise<EditResult[]> {
  let isUnsure = false
  let hasWritten = false
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const current = await settings()
    const { read, failures } = await readAll(admins, signal)
    const { configurations, results } = applyEdits(
      read.map(({ configuration }) => configuration),
      edits,
      current,
    )
    const outcomes = await Promise.allSettled(
      read.map(({ admin, configuration, etag }, index) => {
        const next = smallestChange(configuration, configurations[index])
        if (next === undefined) return undefined
        hasWritten = true
        logger.debug({ caddy: admin.address, method: next.method, path: next.path.join('/') }, 'changing Caddy')
        return admin.write(next, etag, signal)
      }),
    )
    signal.throwIfAborted()
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    const fault = errors.find((error) => !isPassing(error)) ?? failures[0]
    if (errors.length === 0 && fault === undefined) {
      // A single edit has made every difference there was, also one outside of the balancer's own route.
      return hasWritten && (edits.length === 1 || isUnsure) ? results.map(asChanged) : results
    }
    if (fault !== undefined && !errors.some(isPassing)) throw fault
    // A write without an answer may have happened: what is read next tells.
    if (errors.some(isUnreachable)) {
      if (isUnsure) throw errors.find(isUnreachable)
      isUnsure = true
    }
    await pause(clock, attempt * 10)
  }
  throw new RetryAfter(LATER_MS, 'the configuration of Caddy is being changed by others all the time')
}

function asChanged(result: EditResult): EditResult {
  return result.kind === 'done' ? { ...result, changed: true } : result
}

interface ReadConfiguration {
  admin: CaddyAdmin
  configuration: CaddyConfiguration
  etag: string
}

/** What can be read; rejects where nothing can be. */
async function readAll(
  admins: readonly CaddyAdmin[],
  signal: AbortSignal,
): Promise<{ read: ReadConfiguration[]; failures: unknown[] }> {
  const outcomes = await Promise.allSettled(
    admins.map(async (admin): Promise<ReadConfiguration> => {
      const { configuration, etag } = await admin.read(signal)
      return { admin, configuration: (configuration ?? {}) as CaddyConfiguration, etag }
    }),
  )
  const read = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  if (read.length === 0) throw failures[0]
  return { read, failures }
}

/** Worth another look at once. */
function isPassing(error: unknown): boolean {
  return error instanceof CaddyFailure && (error.reason === 'changed' || error.reason === 'unreachable')
}

function isUnreachable(error: unknown): boolean {
  return error instanceof CaddyFailure && error.reason === 'unreachable'
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}
