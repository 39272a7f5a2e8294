import { sha256 } from '../adapters/system/sha256.ts'
import type { Config } from '../config/config.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Cidr } from '../domain/cidr.ts'
import type { CloudController } from '../domain/cloud-controllers.ts'
import { parseClusterCidrs } from '../domain/nodes/cluster-cidrs.ts'
import { isOneNode, ROUTES_KEY } from '../domain/nodes/node-keys.ts'
import { formatKey } from '../domain/object-key.ts'
import type { Flow } from '../flow/flow.ts'
import type { Lock } from '../ports/lock.ts'
import type { CloudProvider } from '../provider/cloud.ts'
import { createEventRecorder } from '../reconcilers/event-recorder.ts'
import { inTurn } from '../reconcilers/in-turn.ts'
import { instanceSource } from '../reconcilers/node/instance-source.ts'
import { createNodeReconciler } from '../reconcilers/node/node-reconciler.ts'
import { createNodeLifecycleReconciler } from '../reconcilers/node-lifecycle/node-lifecycle-reconciler.ts'
import type { Reconciler } from '../reconcilers/reconciler.ts'
import { createRouteReconciler } from '../reconcilers/route/route-reconciler.ts'
import type { ControllerState } from './cloud-controllers.ts'
import type { ReconcilerParts } from './reconciler-parts.ts'
import { UNMEASURED } from './unmeasured.ts'

// Upstream's 200 are more than most clouds take at once.
const ROUTE_CONCURRENCY = 20

/**
 * Who looks after nodes: one reconciler for the kind, of those controllers that run. One node is looked at by its life
 * cycle, then by what keeps it; the key of all routes goes to the routes.
 */
export function composeNodeReconcilers(
  cloud: CloudProvider,
  states: Record<CloudController, ControllerState>,
  parts: ReconcilerParts,
  lock: Lock,
): Flow['reconcilers'] {
  const { config } = parts
  const shared = sharedDependencies(parts, lock)
  const providerName = cloud.providerName()
  const { onlyOurs, refreshLabels, newNodeGraceMs } = config.cloud.nodes
  const instances = instanceSource(cloud)
  const routes = states['node-route-controller'].runs ? cloud.routes() : undefined
  const lifecycle =
    instances !== undefined && states['cloud-node-lifecycle-controller'].runs
      ? createNodeLifecycleReconciler(
          { onlyOurs, providerName, newNodeGraceMs },
          { ...shared('cloud-node-lifecycle-controller'), instances },
        )
      : undefined
  const node =
    instances !== undefined && states['cloud-node-controller'].runs
      ? createNodeReconciler(
          { onlyOurs, providerName, refreshLabels },
          { ...shared('cloud-node-controller'), instances },
        )
      : undefined
  const route =
    routes === undefined
      ? undefined
      : createRouteReconciler(
          {
            clusterName: config.cloud.clusterName,
            clusterCidrs: clusterCidrs(config),
            concurrency: ROUTE_CONCURRENCY,
          },
          { ...shared('route_controller'), routes },
        )
  const each = lifecycle === undefined || node === undefined ? (lifecycle ?? node) : inTurn(lifecycle, node)
  return each === undefined && route === undefined ? {} : { Node: byKey(each, route) }
}

/** Faults of a pair are faults of the configuration, and only where routes are made (C-132). */
function clusterCidrs({ cloud: { clusterCidr } }: Config): Cidr[] {
  const parsed = parseClusterCidrs(clusterCidr)
  if ('cidrs' in parsed) return parsed.cidrs
  const message = `cloud.clusterCidr (--cluster-cidr): ${parsed.fault}; or set cloud.configureCloudRoutes: false`
  throw new CatalogueError('ConfigurationInvalid', message, { field: 'cloud.clusterCidr' })
}

/** Each controller tells its events under upstream's name for it. */
function sharedDependencies({ config, store, clock, logger, metrics = UNMEASURED }: ReconcilerParts, lock: Lock) {
  return (component: string) => ({
    store,
    lock,
    recorder: createEventRecorder({ writer: store, clock, digest: sha256, logger, component }),
    logger,
    metrics,
    clock,
    clusterId: config.clusterId,
    providerDeadlineMs: config.work.providerDeadlineMs,
  })
}

function byKey(each: Reconciler | undefined, route: Reconciler | undefined): Reconciler {
  return {
    async reconcile(key, pass) {
      const reconciler = isOneNode(key) ? each : formatKey(key) === formatKey(ROUTES_KEY) ? route : undefined
      return reconciler?.reconcile(key, pass) ?? { kind: 'ignored', reason: 'no controller runs for it' }
    },
  }
}
