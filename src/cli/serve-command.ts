import { parseArgs } from 'node:util'
import { runFunction } from '../compose/run-function.ts'
import type { Command } from './console.ts'
import { builtInProviders } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Runs the function until it is told to stop. */
export const serveCommand: Command = async (args, console) => {
  const { values } = parseArgs({ args, options: { config: { type: 'string' }, port: { type: 'string' } } })
  const configFile = values.config ?? console.env['WCP_CONFIG'] ?? ''
  if (configFile === '' && !console.env['WCP_CONFIG_YAML'])
    throw new UsageError('serve: give the configuration file with --config FILE or WCP_CONFIG')
  await runFunction({
    configFile,
    environment: { ...console.env, ...(values.port === undefined ? {} : { PORT: values.port }) },
    registry: builtInProviders(),
    stopped: console.interrupted,
    ...(console.codeCache && { codeCache: console.codeCache }),
    write: (line) => console.out(line.trimEnd()),
  })
  return 0
}
