import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import type { DrainOptions } from './drain.ts'
import { type DrainResult, drainObjects } from './drain-objects.ts'
import { loadSettings, readConfigFile } from './load-settings.ts'
import type { FunctionOptions } from './run-function.ts'

export interface DrainFunctionOptions extends Omit<FunctionOptions, 'stopped'>, DrainOptions {}

/**
 * `wcp drain` for a function with providers of its own: lets go of every object that the function of this configuration
 * holds. Unregister the webhooks and stop the function first. Throws a `CatalogueError` when it cannot begin; may be
 * interrupted by its signal, and run again.
 */
export async function drainFunction(options: DrainFunctionOptions): Promise<DrainResult> {
  const { configFile, environment, registry, write } = options
  const clock = createSystemClock()
  const settings = await loadSettings({
    text: environment.WCP_CONFIG_YAML || readConfigFile(configFile),
    // It sends no work: a sink that only pods are told of is not missed.
    environment: { K_SINK: 'http://nobody.invalid', ...environment },
    registry,
    clock,
    opensDoors: false,
    createLogger: (level) => createPinoLogger({ level, destination: { write } }),
  })
  return drainObjects(settings, clock, options)
}
