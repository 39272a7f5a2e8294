import type { Logger } from '../../src/ports/logger.ts'

const ignore = () => {}

/** For tests to which nothing that is logged matters. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
}
