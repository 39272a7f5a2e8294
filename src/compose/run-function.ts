import type { SinkEnvironment } from '../adapters/cloudevents/read-sink.ts'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import type { ConfigEnvironment } from '../config/parse-config.ts'
import type { ProviderRegistry } from '../provider/registry.ts'
import { loadSettings, readConfigFile } from './load-settings.ts'
import { serve } from './serve.ts'

export interface FunctionOptions {
  /** Path of the configuration file. */
  configFile: string
  environment: ConfigEnvironment & SinkEnvironment
  /** The providers that the configuration may name. */
  registry: ProviderRegistry
  /** Resolves when the function is to stop: at SIGTERM, usually. */
  stopped: Promise<void>
  /** Takes log lines. */
  write: (line: string) => void
}

/**
 * Runs the function until it is told to stop, then finishes what it has taken on. Throws a `CatalogueError` when it
 * cannot start; then nothing was started.
 */
export async function runFunction(options: FunctionOptions): Promise<void> {
  const clock = createSystemClock()
  const settings = loadSettings({
    text: readConfigFile(options.configFile),
    environment: options.environment,
    registry: options.registry,
    clock,
    createLogger: (level) => createPinoLogger({ level, destination: { write: options.write } }),
  })
  const served = await serve(settings, clock)
  await options.stopped
  await served.close()
}
