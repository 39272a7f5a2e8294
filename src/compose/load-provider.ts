import { parse as parseYaml } from 'yaml'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Provider } from '../provider/provider.ts'
import type { ConfigurationFault, ProviderRegistry } from '../provider/registry.ts'
import { configurationInvalid } from './load-settings.ts'

export interface ProviderSource {
  name: string
  /** YAML (or JSON) of the provider's options: what stands under `provider.options` in a function's configuration. */
  text: string
  registry: ProviderRegistry
  clock: Clock
  logger: Logger
}

/** A provider alone. Throws `ProviderUnknown`, and `ConfigurationInvalid` with every fault of its options. */
export async function loadProvider({ name, text, registry, clock, logger }: ProviderSource): Promise<Provider> {
  const faults: ConfigurationFault[] = []
  const factory = await registry.factory(name)
  const provider = factory({
    options: parseOptions(text),
    fault: (field, message) => faults.push({ field, message }),
    logger: logger.child({ provider: name }),
    clock,
  })
  if (faults.length > 0) throw configurationInvalid(faults)
  return provider
}

function parseOptions(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = parseText(text) ?? {}
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw configurationInvalid([{ field: '(file)', message: 'must be a mapping: the options of the provider by name' }])
}

function parseText(text: string): unknown {
  try {
    return parseYaml(text, { logLevel: 'error' })
  } catch (cause) {
    // Without the parser's message, which shows an excerpt of the text.
    throw new CatalogueError('ConfigurationInvalid', 'the configuration file of the provider is not valid YAML', {
      cause,
    })
  }
}
