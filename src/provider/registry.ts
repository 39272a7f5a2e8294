import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Provider } from './provider.ts'

/** One fault of a configuration file: where, what, and what to do. */
export interface ConfigurationFault {
  /** `provider.options.delayMs` */
  field: string
  message: string
}

/** What a provider is made from. */
export interface ProviderSetup {
  /** `provider.options` of the parsed configuration file; an empty object when absent. */
  options: Readonly<Record<string, unknown>>
  /** Reports a fault under `provider.options.`; report all of them, then return anything: it is not used. */
  fault(field: string, message: string): void
  logger: Logger
  clock: Clock
}

/** Makes a provider. Makes no network call and starts nothing: the first call to the provider does. */
export type ProviderFactory = (setup: ProviderSetup) => Provider

export interface ProviderRegistry {
  names(): string[]
  /** Throws `ProviderUnknown` with the known names. */
  factory(name: string): ProviderFactory
}

/** A registry is a value handed to the composition root, not a global that imports add to. */
export function createProviderRegistry(factories: Readonly<Record<string, ProviderFactory>>): ProviderRegistry {
  return {
    names: () => Object.keys(factories).sort(),
    factory(name) {
      const factory = Object.hasOwn(factories, name) ? factories[name] : undefined
      if (factory === undefined) {
        throw new CatalogueError(
          'ProviderUnknown',
          `provider.name: no provider is called "${name}"; known are: ${Object.keys(factories).sort().join(', ')}`,
          { field: 'provider.name' },
        )
      }
      return factory
    },
  }
}
