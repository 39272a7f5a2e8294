import { CatalogueError } from '../domain/catalogue-error.ts'
import type { CloudProvider } from './cloud.ts'
import type { ProviderFactory, ProviderSetup } from './registry.ts'

/** What a cloud is made from; `options` is undefined when there is no configuration for it (R-PL-1). */
export interface CloudSetup extends Omit<ProviderSetup, 'options'> {
  options: ProviderSetup['options'] | undefined
}

/** Makes a cloud. Makes no network call and starts nothing. */
export type CloudProviderFactory = (setup: CloudSetup) => CloudProvider

/** Clouds by name, as `plugins.go` keeps them; a value, not a global that imports add to. */
export interface CloudRegistry {
  /** A name can be taken once: two clouds that answer to one name are a fault of the program. */
  registerCloudProvider(name: string, factory: CloudProviderFactory): void
  isCloudProvider(name: string): boolean
  /** Undefined for a name that nobody registered. */
  getCloudProvider(name: string, setup: CloudSetup): CloudProvider | undefined
  /** Undefined for `""` and `"external"`, which ask for none; any other name must be known. */
  initCloudProvider(name: string, setup: CloudSetup): CloudProvider | undefined
  /** For `createProviderRegistry`, beside other providers. */
  factories(): Record<string, ProviderFactory>
}

export function createCloudRegistry(): CloudRegistry {
  const clouds = new Map<string, CloudProviderFactory>()
  return {
    registerCloudProvider(name, factory) {
      if (clouds.has(name)) throw new TypeError(`Cloud provider "${name}" was registered twice`)
      clouds.set(name, factory)
    },
    isCloudProvider: (name) => clouds.has(name),
    getCloudProvider: (name, setup) => clouds.get(name)?.(setup),
    initCloudProvider(name, setup) {
      const factory = clouds.get(name)
      if (name === '' || name === 'external') return undefined
      if (factory === undefined) {
        throw new CatalogueError('ProviderUnknown', `unknown cloud provider "${name}"`, { field: 'provider.name' })
      }
      return made(name, () => factory(setup))
    },
    factories: () =>
      Object.fromEntries(
        [...clouds].map(([name, factory]) => [name, (setup: ProviderSetup) => providerOf(name, factory, setup)]),
      ),
  }
}

/** A provider that is a cloud and nothing else. */
function providerOf(name: string, factory: CloudProviderFactory, setup: ProviderSetup): ReturnType<ProviderFactory> {
  const isConfigured = Object.keys(setup.options).length > 0
  const cloudProvider = made(name, () => factory({ ...setup, options: isConfigured ? setup.options : undefined }))
  return { name, cloudProvider }
}

function made(name: string, make: () => CloudProvider): CloudProvider {
  try {
    return make()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `could not init cloud provider "${name}": ${reason}`
    throw new CatalogueError('ConfigurationInvalid', message, { field: 'provider.options', cause })
  }
}
