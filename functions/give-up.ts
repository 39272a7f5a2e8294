import { isCatalogueError } from '../src/domain/catalogue-error.ts'

/** Ends a process that cannot start, with what is wrong in its log, so that the platform sees it fail. */
export function giveUp(error: unknown): never {
  const text = isCatalogueError(error) ? `${error.code}: ${error.message}` : String((error as Error)?.stack ?? error)
  process.stderr.write(`${text}\n`)
  process.exit(1)
}
