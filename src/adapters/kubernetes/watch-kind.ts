import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { nextWatchStep, type WatchEnding, type WatchStep } from './next-watch-step.ts'
import { pause } from './pause.ts'
import { changesAtSight, changesByAbsence, nameOf, type ObjectChange } from './watch-changes.ts'
import type { WatchClient } from './watch-client.ts'
import { WatchError } from './watch-error.ts'
import type { ObjectIdentity } from './watched-object.ts'
import type { WatchedResource } from './watched-resource.ts'

export interface WatchSettings {
  /** Items a page of a list. */
  pageSize: number
  /** After which time the server ends a watch; each one is up to a tenth shorter, so that not all end at once. */
  timeoutSeconds: number
  /** How much longer than that a watch may be silent. */
  marginMs: number
  /** A list now and then, in case a watch ever left something out. */
  relistMs: number
  backoffMs: (failures: number) => number
}

export interface WatchOptions {
  client: WatchClient
  settings: WatchSettings
  clock: Clock
  /** 0 ≤ n < 1. */
  random: () => number
  logger: Logger
  signal: AbortSignal
}

/**
 * Every change of one kind, and none left out: at first an add for each object there is, then what a watch tells, and
 * after a gap what a new list shows to be different. Goes on through every failure until the signal aborts. A change
 * counts as told once the next one is asked for; what is slow to take them slows down the API server's stream.
 */
export async function* watchKind(resource: WatchedResource, options: WatchOptions): AsyncGenerator<ObjectChange> {
  const { clock, settings, signal } = options
  const known = new Map<string, ObjectIdentity>()
  let step: WatchStep = { do: 'list', afterMs: 0, reason: 'start', failures: 0 }
  let listDue = clock.now() + settings.relistMs
  while (!signal.aborted) {
    logStep(step, resource, options.logger)
    await pause(clock, step.afterMs, signal)
    if (signal.aborted) return
    const ending: WatchEnding =
      step.do === 'list'
        ? yield* listOnce(resource, known, options)
        : yield* watchOnce(resource, known, step.resourceVersion, options)
    step = nextWatchStep(step, ending, settings.backoffMs)
    if (ending.how === 'listed') listDue = clock.now() + settings.relistMs
    else if (clock.now() >= listDue) step = { ...step, do: 'list', reason: 'it is time for a list' }
  }
}

type Known = Map<string, ObjectIdentity>

/** Told page by page: a long list is never held as a whole, and what was told stays told when a later page fails. */
async function* listOnce(
  resource: WatchedResource,
  known: Known,
  { client, settings, signal }: WatchOptions,
): AsyncGenerator<ObjectChange, WatchEnding> {
  const listed = new Set<string>()
  let token: string | undefined
  let resourceVersion: string | undefined
  try {
    do {
      const more = token === undefined ? {} : { continue: token }
      const page = await client.list(resource, { limit: settings.pageSize, ...more, signal })
      for (const item of page.items) {
        listed.add(nameOf(item.identity))
        yield* telling(known, changesAtSight(known, item))
      }
      // Of the first page: a later one can only be as new or newer.
      resourceVersion ??= page.resourceVersion
      token = page.continue
    } while (token !== undefined)
    yield* telling(known, changesByAbsence(known, listed))
    return { how: 'listed', resourceVersion }
  } catch (error) {
    return { how: 'failed', error: watchError(error), heard: false, resourceVersion: undefined }
  }
}

// A watch that nothing happens on for this long is a quiet one, not a broken one.
const QUIET_MS = 5_000

async function* watchOnce(
  resource: WatchedResource,
  known: Known,
  from: string,
  { client, settings, clock, random, signal }: WatchOptions,
): AsyncGenerator<ObjectChange, WatchEnding> {
  const timeoutSeconds = Math.max(1, Math.round(settings.timeoutSeconds * (1 - random() / 10)))
  const silence = new AbortController()
  const cancel = clock.after(timeoutSeconds * 1000 + settings.marginMs, () => silence.abort())
  const begun = clock.now()
  let resourceVersion = from
  let heard = false
  const isHeard = () => heard || clock.now() - begun >= QUIET_MS
  try {
    const any = AbortSignal.any([signal, silence.signal])
    for await (const event of client.watch(resource, { resourceVersion, timeoutSeconds, signal: any })) {
      if (event.type === 'DELETED') yield* telling(known, [{ type: 'delete', ...event.seen }])
      else if (event.type !== 'BOOKMARK') yield* telling(known, changesAtSight(known, event.seen))
      resourceVersion = event.resourceVersion
      heard = true
    }
    return { how: 'ended', reason: 'the API server ended the watch', heard: isHeard(), resourceVersion }
  } catch (error) {
    if (silence.signal.aborted) return { how: 'ended', reason: 'the watch was silent', heard: true, resourceVersion }
    return { how: 'failed', error: watchError(error), heard: isHeard(), resourceVersion }
  } finally {
    cancel()
  }
}

/** Known is what was told, so the order matters. */
function* telling(known: Known, changes: ObjectChange[]): Generator<ObjectChange> {
  for (const change of changes) {
    yield change
    if (change.type === 'delete') known.delete(nameOf(change.identity))
    else known.set(nameOf(change.identity), change.identity)
  }
}

function watchError(error: unknown): WatchError {
  if (error instanceof WatchError) return error
  throw error
}

function logStep(step: WatchStep, { kind, namespace }: WatchedResource, logger: Logger): void {
  const { reason, failures, afterMs } = step
  const from = step.do === 'watch' ? { resourceVersion: step.resourceVersion } : {}
  const fields = {
    watched: kind,
    ...(namespace === undefined ? {} : { namespace }),
    reason,
    failures,
    afterMs,
    ...from,
  }
  if (failures > 0) logger.warn(fields, step.do === 'list' ? 'listing' : 'watching')
  else logger.info(fields, step.do === 'list' ? 'listing' : 'watching')
}
