import type { Readiness } from '../adapters/http/doors.ts'
import type { Config } from '../config/config.ts'
import { CLOUD_CONTROLLERS, type CloudController, isControllerEnabled } from '../domain/cloud-controllers.ts'
import type { CloudProvider } from '../provider/cloud.ts'

/** Whether a controller runs; if not, why. */
export type ControllerState = { runs: true } | { runs: false; reason: string }

/** Decided once, at start: by configuration, and by what the cloud can do (seed: what it lacks is skipped, the rest runs). */
export function controllerStates(
  cloud: CloudProvider,
  { cloud: settings }: Config,
): Record<CloudController, ControllerState> {
  const state = (controller: CloudController): ControllerState => {
    if (isUntagged(cloud, settings)) return { runs: false, reason: UNTAGGED }
    if (!isControllerEnabled(controller, settings.controllers))
      return { runs: false, reason: 'not in cloud.controllers' }
    if (controller === 'node-route-controller' && !settings.configureCloudRoutes)
      return { runs: false, reason: 'cloud.configureCloudRoutes is false' }
    const lacking = lackOf(controller, cloud)
    return lacking === undefined
      ? { runs: true }
      : { runs: false, reason: `the cloud provider does not support ${lacking}` }
  }
  const names = Object.keys(CLOUD_CONTROLLERS) as CloudController[]
  return Object.fromEntries(names.map((name) => [name, state(name)])) as Record<CloudController, ControllerState>
}

function lackOf(controller: CloudController, cloud: CloudProvider): string | undefined {
  switch (controller) {
    case 'service-lb-controller':
      return cloud.loadBalancer() === undefined ? 'external load balancers' : undefined
    case 'node-route-controller':
      return cloud.routes() === undefined ? 'routes' : undefined
    default:
      return cloud.instancesV2?.() === undefined && cloud.instances() === undefined ? 'instances' : undefined
  }
}

const UNTAGGED =
  'the provider does not mark what it makes with the cluster, and two clusters of one account would touch each other’s; set cloud.allowUntaggedCloud: true to serve nevertheless'

function isUntagged(cloud: CloudProvider, { allowUntaggedCloud }: Config['cloud']): boolean {
  return !cloud.hasClusterID() && !allowUntaggedCloud
}

/** For the readiness probe, told without asking anybody. A controller that the cloud cannot have is no fault. */
export function cloudChecks(cloud: CloudProvider, config: Config): Readiness['checks'] {
  const untagged = isUntagged(cloud, config.cloud)
  const skipped = Object.entries(controllerStates(cloud, config)).flatMap(([name, state]) =>
    state.runs ? [] : [`${name} (${state.reason})`],
  )
  return [
    {
      name: 'cluster-id',
      ok: !untagged,
      message: untagged ? UNTAGGED : cloud.hasClusterID() ? 'marked' : 'not marked, as allowed',
    },
    {
      name: 'controllers',
      ok: true,
      message: untagged || skipped.length === 0 ? 'as configured' : `not running: ${skipped.join('; ')}`,
    },
  ]
}
