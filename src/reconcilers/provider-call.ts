import { CatalogueError, isCatalogueError } from '../domain/catalogue-error.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import { isProviderError } from '../provider/errors.ts'

/**
 * Calls the provider and gives up at the deadline even if the provider does not: overlapping calls are harmless by
 * contract. Throws a `CatalogueError`; `ImplementedElsewhere` passes through, it is no failure.
 */
export async function callProvider<T>(key: ObjectKey, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  try {
    return await untilAborted(call(), signal)
  } catch (error) {
    if (signal.aborted) {
      throw new CatalogueError('ProviderTimeout', 'the provider did not answer in time', { object: key, cause: error })
    }
    throw fromProvider(key, error)
  }
}

/** The code that a caller will see, had it not given up before. */
export function codeOfProviderError(error: unknown): string {
  const seen = fromProvider(NO_OBJECT, error)
  if (isCatalogueError(seen)) return seen.code
  return isProviderError(seen) ? seen.kind : 'ProviderFailed'
}

const NO_OBJECT: ObjectKey = { kind: 'Service', namespace: '', name: '' }

function fromProvider(key: ObjectKey, error: unknown): unknown {
  const message = error instanceof Error ? error.message : String(error)
  if (!isProviderError(error)) return new CatalogueError('ProviderFailed', message, { object: key, cause: error })
  switch (error.kind) {
    case 'RetryAfter':
      return new CatalogueError('ProviderRetryAfter', message, { object: key, afterMs: error.afterMs, cause: error })
    case 'Terminal':
      return new CatalogueError('ProviderTerminal', message, { object: key, cause: error })
    case 'NotImplemented':
      return new CatalogueError('NotImplemented', message, { object: key, cause: error })
    case 'ImplementedElsewhere':
      return error
    case 'InstanceNotFound':
    case 'DiskNotFound':
      return new CatalogueError('ProviderFailed', message, { object: key, cause: error })
  }
}

function untilAborted<T>(call: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
