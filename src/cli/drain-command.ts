import { parseArgs } from 'node:util'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { drainObjects } from '../compose/drain-objects.ts'
import { loadSettings, readConfigFile } from '../compose/load-settings.ts'
import type { Command } from './console.ts'
import { builtInProviders } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Lets go of every object. Exit code 1 when some could not be let go of. */
export const drainCommand: Command = async (args, console) => {
  const { values } = parseArgs({
    args,
    options: { config: { type: 'string' }, 'keep-balancers': { type: 'boolean', default: false } },
  })
  const configFile = values.config ?? console.env['WCP_CONFIG']
  if (configFile === undefined)
    throw new UsageError('drain: give the configuration file with --config FILE or WCP_CONFIG')
  const clock = createSystemClock()
  const write = (line: string) => console.err(line.trimEnd())
  const settings = loadSettings({
    text: readConfigFile(configFile),
    // It sends no work: a sink that only pods are told of is not missed.
    environment: { K_SINK: 'http://nobody.invalid', ...console.env },
    registry: builtInProviders(),
    clock,
    createLogger: (level) => createPinoLogger({ level, destination: { write } }),
  })
  const stopping = new AbortController()
  void console.interrupted.then(() => stopping.abort(new Error('interrupted')))
  const { left } = await drainObjects(settings, clock, {
    keepBalancers: values['keep-balancers'],
    report: console.out,
    signal: stopping.signal,
  })
  console.out(left === 0 ? 'nothing is held any more' : `${left} objects are still held; run again`)
  return left === 0 ? 0 : 1
}
