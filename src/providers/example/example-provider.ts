import type { CloudProvider } from '../../provider/cloud.ts'

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
