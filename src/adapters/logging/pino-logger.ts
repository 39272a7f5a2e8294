import { type DestinationStream, pino } from 'pino'
import type { Logger } from '../../ports/logger.ts'
import { redact } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** JSON lines, without credentials, should one ever be logged. */
export function createPinoLogger(options: { level: LogLevel; destination: DestinationStream }): Logger {
  return pino({ level: options.level, base: null, formatters: { log: redact, bindings: redact } }, options.destination)
}
