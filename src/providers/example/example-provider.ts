import type { CloudProvider } from '../../provider/cloud.ts'
import type { ProviderFactory } from '../../provider/registry.ts'

/**
 * The smallest provider that registers and deploys: it has a name, and no capability, so no controller runs. In the form
 * of 2019. To make one of your own, copy this file and answer what your cloud can do.
 */
export function createExampleCloud(): CloudProvider {
  return {
    initialize: () => undefined,
    loadBalancer: () => undefined,
    instances: () => undefined,
    zones: () => undefined,
    clusters: () => undefined,
    routes: () => undefined,
    providerName: () => 'example',
    // What it makes is marked with no cluster; the function says so at /readyz unless that is allowed.
    hasClusterID: () => false,
  }
}

/** `provider: { name: example }`; it has no options. */
export const exampleProviderFactory: ProviderFactory = ({ options, fault }) => {
  for (const name of Object.keys(options)) fault(name, 'the example provider has no options')
  return { name: 'example', cloudProvider: createExampleCloud() }
}
