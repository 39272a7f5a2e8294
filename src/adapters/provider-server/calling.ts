import type { Logger } from '../../ports/logger.ts'
import { NotImplemented } from '../../provider/errors.ts'

/** What every call into the provider needs beside its request. */
export interface Calling {
  /** Aborted at the caller's deadline, when the caller goes away, and when this process has no more time. */
  signal: AbortSignal
  /** Names the operation and what it is about. */
  logger: Logger
}

/** What the provider has of an interface; `NotImplemented` for a caller who thinks that it has one. */
export function served<T>(part: T | undefined, name: string): T {
  if (part === undefined)
    throw new NotImplemented(`this provider does not serve ${name}; GET /v1/provider says what it serves`)
  return part
}
