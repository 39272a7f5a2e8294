import { CatalogueError } from '../domain/catalogue-error.ts'
import { formatKey } from '../domain/object-key.ts'
import type { WorkResult } from '../domain/requeue.ts'
import type { WorkItem } from '../domain/work-item.ts'
import type { Logger } from '../ports/logger.ts'
import type { WorkHandler } from '../ports/work-queue.ts'

/** A handler never throws; should one, then the key is not lost with it, nor the worker, nor the process. */
export async function attemptWork(
  handle: WorkHandler,
  item: WorkItem,
  signal: AbortSignal,
  logger: Logger,
): Promise<WorkResult> {
  try {
    return await handle(item, signal)
  } catch (cause) {
    const stack = cause instanceof Error ? cause.stack : String(cause)
    logger.error({ key: formatKey(item.key), stack }, 'unexpected error')
    const error = new CatalogueError('Internal', 'an unexpected fault of this program', { object: item.key, cause })
    return { outcome: { kind: 'failed', error }, waiting: item.hints }
  }
}
