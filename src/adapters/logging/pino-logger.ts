import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino'
import type { Logger } from '../../ports/logger.ts'
import { redact } from './redact.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** JSON lines, without credentials, should one ever be logged. */
export function createPinoLogger(options: { level: LogLevel; destination: DestinationStream }): Logger {
  return loggerOf(pino({ level: options.level, base: null, formatters: { log: redact } }, options.destination))
}

/** The library's formatters pass over the fields of children. */
function loggerOf(logger: PinoLogger): Logger {
  return {
    tellsInfo: logger.isLevelEnabled('info'),
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => loggerOf(logger.child(redact(fields))),
  }
}
