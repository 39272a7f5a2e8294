import { readFileSync } from 'node:fs'
import type { Config } from '../config/config.ts'
import { type ConfigEnvironment, parseConfig } from '../config/parse-config.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { MultiClusterProvider } from '../provider/multicluster.ts'
import type { ConfigurationFault, ProviderRegistry } from '../provider/registry.ts'

export interface SettingsSource {
  /** The configuration file's text. */
  text: string
  environment: ConfigEnvironment
  registry: ProviderRegistry
  clock: Clock
  /** Made once the level is known. */
  createLogger: (level: Config['log']['level']) => Logger
}

export interface Settings {
  config: Config
  provider: MultiClusterProvider
  logger: Logger
}

/** Configuration and the provider made from it, or `ConfigurationInvalid` with every fault of both. */
export function loadSettings({ text, environment, registry, clock, createLogger }: SettingsSource): Settings {
  const { config, faults } = parseConfig(text, environment)
  if (config === undefined) throw configurationInvalid(faults)
  const logger = createLogger(config.log.level)
  const providerFaults: ConfigurationFault[] = []
  const provider = registry.factory(config.provider.name)({
    options: config.provider.options,
    fault: (field, message) => providerFaults.push({ field: `provider.options.${field}`, message }),
    logger: logger.child({ provider: config.provider.name }),
    clock,
  })
  if (providerFaults.length > 0) throw configurationInvalid(providerFaults)
  return { config, provider, logger }
}

/** The text of the file; `ConfigurationInvalid` when there is none. */
export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const message = `the configuration file ${path} cannot be read: give its path with --config or WCP_CONFIG`
    throw new CatalogueError('ConfigurationInvalid', message, { cause: error })
  }
}

function configurationInvalid(faults: readonly ConfigurationFault[]): CatalogueError {
  const lines = faults.map(({ field, message }) => `  ${field}: ${message}`)
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
  return new CatalogueError('ConfigurationInvalid', [`${count} in the configuration:`, ...lines].join('\n'))
}
