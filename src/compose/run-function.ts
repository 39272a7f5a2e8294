import type { SinkEnvironment } from '../adapters/cloudevents/read-sink.ts'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import type { ConfigEnvironment } from '../config/parse-config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProviderRegistry } from '../provider/registry.ts'
import { type CodeCache, NO_CODE_CACHE } from './code-cache.ts'
import { loadSettings, readConfigFile, type Settings } from './load-settings.ts'
import { serve } from './serve.ts'

export interface FunctionOptions {
  /** Path of the configuration file; not read where the variable `WCP_CONFIG_YAML` holds the configuration itself. */
  configFile: string
  environment: ConfigEnvironment & SinkEnvironment & { WCP_CONFIG_YAML?: string | undefined }
  /** The providers that the configuration may name. */
  registry: ProviderRegistry
  /** Resolves when the function is to stop: at SIGTERM, usually. */
  stopped: Promise<void>
  /** Takes log lines. */
  write: (line: string) => void
  /** What became of the code that was compiled when this was bundled; told by a metric. */
  codeCache?: CodeCache
}

/**
 * Runs the function until it is told to stop, then finishes what it has taken on. Throws a `CatalogueError` when it
 * cannot start; then nothing was started.
 */
export async function runFunction(options: FunctionOptions): Promise<void> {
  const clock = createSystemClock()
  const served = await serve(await settingsOf(options, clock), clock)
  await options.stopped
  await served.close()
}

/** What the platform gives, as settings. Throws what `loadSettings` throws. */
export async function settingsOf(options: Omit<FunctionOptions, 'stopped'>, clock: Clock): Promise<Settings> {
  const { configFile, environment, registry, write, codeCache = NO_CODE_CACHE } = options
  const settings = await loadSettings({
    text: environment.WCP_CONFIG_YAML || readConfigFile(configFile),
    environment,
    registry,
    clock,
    createLogger: (level) => createPinoLogger({ level, destination: { write } }),
  })
  return { ...settings, codeCache }
}
