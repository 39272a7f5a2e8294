import { isCatalogueError } from '../domain/catalogue-error.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { HeldLock } from '../ports/lock.ts'
import type { Logger } from '../ports/logger.ts'
import type { CloudContext } from '../provider/cloud.ts'
import { isProviderError } from '../provider/errors.ts'
import { deadline } from './deadline.ts'
import { callProvider } from './provider-call.ts'

export interface CloudCaller {
  /** What the call is about, for messages. */
  key: ObjectKey
  /** Aborts at the deadline of the pass, and when the lock is lost. */
  signal: AbortSignal
  /** Undefined while only reading. */
  held?: HeldLock
  logger: Logger
  clusterId: string
  clock: Clock
  /** For one call. */
  providerDeadlineMs: number
}

/**
 * One call into a capability of the cloud, with a deadline of its own. Throws a `CatalogueError`. Nothing is asked for a
 * lock that is lost.
 */
export async function askCloud<R>(caller: CloudCaller, call: (context: CloudContext) => Promise<R>): Promise<R> {
  caller.held?.check()
  const { key, logger, clusterId, clock, providerDeadlineMs } = caller
  const { signal, cancel } = deadline(clock, providerDeadlineMs, caller.signal)
  return callProvider(key, signal, () => call({ signal, logger, clusterId })).finally(cancel)
}

/** Whether the cloud said that there is no such instance, rather than that it could not be asked. */
export function isInstanceMissing(error: unknown): boolean {
  const cause = isCatalogueError(error) ? error.cause : error
  return isProviderError(cause) && cause.kind === 'InstanceNotFound'
}

/** Whether the cloud said that it has no such function. */
export function isNotImplemented(error: unknown): boolean {
  const cause = isCatalogueError(error) ? error.cause : error
  return isProviderError(cause) && cause.kind === 'NotImplemented'
}
