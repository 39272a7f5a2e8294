import { parseArgs } from 'node:util'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { loadSettings, readConfigFile } from '../compose/load-settings.ts'
import { serve } from '../compose/serve.ts'
import type { Command } from './console.ts'
import { builtInProviders } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Runs the function until it is told to stop. */
export const serveCommand: Command = async (args, console) => {
  const { values } = parseArgs({ args, options: { config: { type: 'string' }, port: { type: 'string' } } })
  const path = values.config ?? console.env['WCP_CONFIG']
  if (path === undefined) throw new UsageError('serve: give the configuration file with --config FILE or WCP_CONFIG')
  const clock = createSystemClock()
  const settings = loadSettings({
    text: readConfigFile(path),
    environment: { ...console.env, ...(values.port === undefined ? {} : { PORT: values.port }) },
    registry: builtInProviders(),
    clock,
    createLogger: (level) => createPinoLogger({ level, destination: { write: (line) => console.out(line.trimEnd()) } }),
  })
  const interrupted = console.interrupted
  const served = await serve(settings, clock)
  await interrupted
  await served.close()
  return 0
}
