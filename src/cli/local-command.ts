import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createPinoLogger, type LogLevel } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { startLocal } from '../compose/start-local.ts'
import { createFakeProvider } from '../providers/fake/fake-provider.ts'
import type { Command } from './console.ts'
import { runDemo } from './demo.ts'
import { UsageError } from './usage-error.ts'

/** A control plane, the function and a fake cloud on this machine; the sample is applied and served. */
export const localCommand: Command = async (args, console) => {
  const settings = parseLocalArgs(args)
  const clock = createSystemClock()
  const logger = createPinoLogger({
    level: settings.log,
    destination: { write: (line) => console.err(line.trimEnd()) },
  })
  const provider = createFakeProvider({ delayMs: settings.delayMs, failure: () => undefined, clock })
  const directory = settings.directory ?? mkdtempSync(join(tmpdir(), 'webhook-cloud-provider-'))
  const interrupted = console.interrupted
  try {
    const local = await startLocal({ directory, port: settings.port, provider, clock, logger })
    try {
      return await runDemo(local, { provider, clock, console, demo: settings.demo, interrupted })
    } finally {
      await local.close()
    }
  } finally {
    if (settings.directory === undefined) rmSync(directory, { recursive: true, force: true })
  }
}

interface LocalSettings {
  demo: boolean
  port: number
  delayMs: number
  directory: string | undefined
  log: LogLevel
}

function parseLocalArgs(args: string[]): LocalSettings {
  const { values } = parseArgs({
    args,
    options: {
      demo: { type: 'boolean', default: false },
      port: { type: 'string', default: '0' },
      'delay-ms': { type: 'string', default: '0' },
      directory: { type: 'string' },
      verbose: { type: 'boolean', default: false },
    },
  })
  return {
    demo: values.demo,
    port: wholeNumber('--port', values.port, 65_535),
    delayMs: wholeNumber('--delay-ms', values['delay-ms'], 3_600_000),
    directory: values.directory === undefined ? undefined : resolve(values.directory),
    log: values.verbose ? 'info' : 'error',
  }
}

function wholeNumber(option: string, text: string, maximum: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > maximum)
    throw new UsageError(`${option}: "${text}" is not a whole number from 0 to ${maximum}`)
  return number
}
