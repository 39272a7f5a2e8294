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
  /** Rejects with `ProviderUnknown` and the known names. */
  factory(name: string): Promise<ProviderFactory>
}

/** Loads the code of a provider: who does not name it does not pay for it. */
export type LateProviderFactory = () => Promise<ProviderFactory>

/** A registry is a value handed to the composition root, not a global that imports add to. */
export function createProviderRegistry(
  factories: Readonly<Record<string, ProviderFactory>>,
  late: Readonly<Record<string, LateProviderFactory>> = {},
): ProviderRegistry {
  const known = new Map<string, LateProviderFactory>([
    ...Object.entries(late),
    ...Object.entries(factories).map(([name, factory]) => [name, async () => factory] as const),
  ])
  const names = () => [...known.keys()].sort()
  return {
    names,
    async factory(name) {
      const load = known.get(name)
      if (load !== undefined) return load()
      const message = `provider.name: no provider is called "${name}"; known are: ${names().join(', ')}`
      throw new CatalogueError('ProviderUnknown', message, { field: 'provider.name' })
    },
  }
}
