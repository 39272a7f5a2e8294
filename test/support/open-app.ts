import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApp } from '../../src/adapters/http/app.ts'
import type { DoorOptions } from '../../src/adapters/http/door-options.ts'
import type { Doors } from '../../src/adapters/http/doors.ts'
import type { Answer } from '../../src/cli/check-answer.ts'
import type { FixtureRequest } from '../../src/cli/fixture.ts'
import type { LogFields, Logger } from '../../src/ports/logger.ts'

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  fields: LogFields
  message: string
}

export interface OpenApp {
  app: FastifyInstance
  log: LogLine[]
  /** `name{label=value,…}`, once for each count. */
  counted: string[]
  send(request: Partial<FixtureRequest> & { method: string; path: string }): Promise<Answer>
}

/** The app over these doors, with a logger and metrics that remember. */
export function openApp(doors: Doors, overrides: Partial<DoorOptions> = {}): OpenApp {
  const log: LogLine[] = []
  const counted: string[] = []
  const app = buildApp(doors, {
    logger: recordingLogger(log),
    metrics: {
      count: (name, labels = {}) => {
        const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`)
        counted.push(`${name}{${pairs.join(',')}}`)
      },
      observe: () => {},
      set: () => {},
    },
    clock: { now: () => Date.now(), after: (ms, callback) => timer(ms, callback) },
    callers: OPEN_DOORS,
    openapi: async () => '{"openapi":"3.1.0","info":{},"paths":{}}',
    sweepDeadlineMs: 1_000,
    workDeadlineMs: 1_000,
    ...overrides,
  })
  return { app, log, counted, send: (request) => inject(app, request) }
}

export const OPEN_DOORS: DoorOptions['callers'] = {
  admission: { proofs: 'anyone' },
  events: { proofs: 'anyone' },
  sweep: { proofs: 'anyone' },
  metrics: { proofs: 'anyone' },
}

export async function inject(
  app: FastifyInstance,
  { method, path, headers = {}, body }: Partial<FixtureRequest> & { method: string; path: string },
): Promise<Answer> {
  const response = await app.inject({
    // inject knows more methods than its type does.
    method: method as NonNullable<InjectOptions['method']> & string,
    url: path,
    headers,
    ...(body === undefined || body.length === 0 ? {} : { payload: body }),
  } as InjectOptions)
  const text = Object.entries(response.headers).map(([name, value]) => [name, value === undefined ? value : `${value}`])
  return { status: response.statusCode, headers: Object.fromEntries(text), body: response.body }
}

function timer(ms: number, callback: () => void): () => void {
  const id = setTimeout(callback, ms)
  return () => clearTimeout(id)
}

function recordingLogger(log: LogLine[]): Logger {
  const at = (level: LogLine['level']) => (fields: LogFields, message: string) =>
    void log.push({ level, fields, message })
  const logger: Logger = {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  }
  return logger
}
