import type { SinkEnvironment } from '../adapters/cloudevents/read-sink.ts'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import type { ConfigEnvironment } from '../config/parse-config.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProviderRegistry } from '../provider/registry.ts'
import { type CodeCache, NO_CODE_CACHE } from './code-cache.ts'
import { loadSettings, readConfigFile, type Settings } from './load-settings.ts'

export interface PlatformOptions {
  /** Path of the configuration file; not read where the variable `WCP_CONFIG_YAML` holds the configuration itself. */
  configFile: string
  environment: ConfigEnvironment & SinkEnvironment & { WCP_CONFIG_YAML?: string | undefined }
  /** The providers that the configuration may name. */
  registry: ProviderRegistry
  /** Takes log lines. */
  write: (line: string) => void
  /** What became of the code that was compiled when this was bundled; told by a metric. */
  codeCache?: CodeCache
}

/** What the platform gives, as settings. Throws what `loadSettings` throws. */
export async function settingsOf(options: PlatformOptions, clock: Clock): Promise<Settings> {
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
