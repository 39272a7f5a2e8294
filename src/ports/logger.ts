/** Structured logging, shaped like pino: fields first, then a fixed message. Never an object's content, never a credential. */
export interface Logger {
  /** False where lines of `info` are not written: then nobody need put their fields together. */
  readonly tellsInfo?: boolean
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  child(fields: LogFields): Logger
}

export type LogFields = Record<string, unknown>
