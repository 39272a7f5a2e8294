import {
  type CloudProvider,
  createCloudRegistry,
  createProviderRegistry,
  type Instances,
  runFunction,
  type Zones,
} from 'webhook-cloud-provider'

/** In the form of 2019: it has no `instancesV2`. */
export function acmeCloud(instances: Instances, zones: Zones): CloudProvider {
  return {
    initialize: () => undefined,
    loadBalancer: () => undefined, // Go's (nil, false): the service controller does not run
    instances: () => instances,
    zones: () => zones,
    clusters: () => undefined,
    routes: () => undefined,
    providerName: () => 'acme',
    hasClusterID: () => true,
  }
}

/** As `init()` and `main()` of a cloud controller manager. */
export function main(makeInstances: (endpoint: unknown) => Instances, zones: Zones) {
  const clouds = createCloudRegistry()
  clouds.registerCloudProvider('acme', ({ options }) => acmeCloud(makeInstances(options?.['endpoint']), zones))
  return runFunction({
    configFile: 'config.yaml', // provider: { name: acme, options: { endpoint: … } }, controlPlane: kubernetes
    environment: process.env,
    registry: createProviderRegistry(clouds.factories()),
    stopped: new Promise((resolve) => process.once('SIGTERM', resolve)),
    write: (line) => void process.stdout.write(line),
  })
}
