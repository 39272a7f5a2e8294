import { readFileSync } from 'node:fs'
import { readSink, type Sink, type SinkEnvironment } from '../adapters/cloudevents/read-sink.ts'
import { openDoorFaults, openDoors } from '../config/caller-faults.ts'
import type { Config } from '../config/config.ts'
import { type ConfigEnvironment, parseConfig } from '../config/parse-config.ts'
import { CatalogueError, isCatalogueError } from '../domain/catalogue-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Provider } from '../provider/provider.ts'
import type { ConfigurationFault, ProviderRegistry } from '../provider/registry.ts'
import type { CodeCache } from './code-cache.ts'

export interface SettingsSource {
  /** The configuration file's text. */
  text: string
  environment: ConfigEnvironment & SinkEnvironment
  registry: ProviderRegistry
  clock: Clock
  /** Made once the level is known. */
  createLogger: (level: Config['log']['level']) => Logger
  /** False for what opens no doors: then it need not be said who may call. */
  opensDoors?: boolean
}

export interface Settings {
  config: Config
  provider: Provider
  logger: Logger
  /** Where work events go, for `queue.kind: cloudevents`. */
  sink?: Sink
  codeCache?: CodeCache
}

/**
 * Configuration and the provider made from it, or `ConfigurationInvalid` with every fault of both; an unknown provider
 * alone is `ProviderUnknown`.
 */
export async function loadSettings(source: SettingsSource): Promise<Settings> {
  const { text, environment, registry, clock, createLogger, opensDoors = true } = source
  const parsed = parseConfig(text, environment)
  const { config } = parsed
  if (config !== undefined) {
    const logger = createLogger(config.log.level)
    const { provider, faults } = await makeProvider(config.provider, { registry, logger, clock })
    const doors = opensDoors ? openDoorFaults(config.callers, config.server) : []
    if (faults.length + doors.length > 0) throw configurationInvalid([...doors, ...faults])
    if (opensDoors) warnOfOpenDoors(config, logger)
    return {
      config,
      provider,
      logger,
      ...(config.queue.kind === 'cloudevents' && { sink: sinkOf(config, environment) }),
    }
  }
  throw configurationInvalid([
    ...parsed.faults,
    ...(opensDoors ? parsed.doors : []),
    ...(await providerFaults(parsed.provider)),
  ])

  /** Told with the rest, so that nobody has to start three times to hear of three faults. */
  async function providerFaults(named: Config['provider'] | undefined): Promise<ConfigurationFault[]> {
    if (named === undefined) return []
    try {
      return (await makeProvider(named, { registry, logger: createLogger('silent'), clock })).faults
    } catch (error) {
      if (!isCatalogueError(error, 'ProviderUnknown')) throw error
      return [{ field: 'provider.name', message: error.message.replace(/^provider\.name: /, '') }]
    }
  }
}

/** At every start, so that nobody forgets. */
export function warnOfOpenDoors({ callers, server }: Config, logger: Logger): void {
  const doors = openDoors(callers, server)
  if (doors.length === 0) return
  logger.warn({ doors }, 'anyone who can reach these doors may call them (callers.anyone): see docs/security.md')
}

export function sinkOf({ queue }: Config, environment: SinkEnvironment): Sink {
  return readSink({ url: queue.sink, caFile: queue.caFile, tokenFile: queue.tokenFile }, environment)
}

async function makeProvider(
  { name, options }: Config['provider'],
  { registry, logger, clock }: { registry: ProviderRegistry; logger: Logger; clock: Clock },
): Promise<{ provider: Provider; faults: ConfigurationFault[] }> {
  const faults: ConfigurationFault[] = []
  const factory = await registry.factory(name)
  const provider = factory({
    options,
    fault: (field, message) => faults.push({ field: `provider.options.${field}`, message }),
    logger: logger.child({ provider: name }),
    clock,
  })
  return { provider, faults }
}

/** The configuration alone, for commands that call no provider; `ConfigurationInvalid` with every fault of it. */
export function loadConfig(text: string, environment: ConfigEnvironment): Config {
  const { config, faults } = parseConfig(text, environment)
  if (config === undefined) throw configurationInvalid(faults)
  return config
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

export function configurationInvalid(faults: readonly ConfigurationFault[]): CatalogueError {
  const lines = faults.map(({ field, message }) => `  ${field}: ${message}`)
  const count = faults.length === 1 ? '1 fault' : `${faults.length} faults`
  return new CatalogueError('ConfigurationInvalid', [`${count} in the configuration:`, ...lines].join('\n'))
}
