import { type DestinationStream, pino } from 'pino'
import type { Logger } from '../../ports/logger.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** JSON lines. Credentials are taken out by field name, should one ever be logged. */
export function createPinoLogger(options: { level: LogLevel; destination: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
    },
    options.destination,
  )
}

const SECRET_NAMES = ['authorization', 'token', 'password', 'clientKey', 'access_token']
const SECRET_PATHS = SECRET_NAMES.flatMap((name) => ['', '*.', '*.*.', '*.*.*.'].map((depth) => `${depth}${name}`))
