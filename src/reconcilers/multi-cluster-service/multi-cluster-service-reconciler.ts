import type { BackendOptions } from '../../domain/backends/backend-options.ts'
import { resolveServiceBackends } from '../../domain/backends/resolve-backends.ts'
import { deprecatedFields } from '../../domain/deprecated-fields.ts'
import type { LabelSelector } from '../../domain/label-selector.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import { ownershipByType } from '../../domain/ownership.ts'
import { storedServiceFaults } from '../../domain/validation/stored-object-faults.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { MCSLoadBalancer } from '../../provider/multicluster.ts'
import { type BackendSettings, backendOptions } from '../load-balancer/backend-settings.ts'
import type { ResolvedObject, Surroundings } from '../load-balancer/balanced-resource.ts'
import type { BalancerCalls } from '../load-balancer/balancer-calls.ts'
import type { BalancerDependencies } from '../load-balancer/balancer-pass.ts'
import { createBalancerReconciler } from '../load-balancer/balancer-reconciler.ts'
import { type BackendWorld, gatherBackendWorld } from '../load-balancer/gather-backend-world.ts'
import type { Reconciler } from '../reconciler.ts'

export interface MultiClusterServiceSettings {
  /** Which MultiClusterServices of type LoadBalancer are ours; empty selects all. */
  selector: LabelSelector
  backends: BackendSettings
}

/** Serves the MultiClusterServices of type LoadBalancer that the selector chooses. */
export function createMultiClusterServiceReconciler(
  loadBalancer: MCSLoadBalancer | undefined,
  settings: MultiClusterServiceSettings,
  dependencies: BalancerDependencies,
): Reconciler {
  const options = backendOptions(settings.backends, loadBalancer?.supports)
  return createBalancerReconciler(
    {
      kind: 'MultiClusterService',
      calls: loadBalancer && serviceCalls(loadBalancer),
      ownershipOf: async (service) => ownershipByType(service, settings.selector),
      faultsOf: storedServiceFaults,
      surroundingsOf,
      resolve: (service, { world }) => resolveService(service, world, options),
    },
    dependencies,
  )
}

/** The Service of the same name. */
async function surroundingsOf(
  { metadata: { namespace = '', name } }: MultiClusterService,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Surroundings> {
  return {
    world: await gatherBackendWorld({ namespace, services: [name], secrets: [] }, reader, signal),
    conflicts: [],
  }
}

/** Blocked clusters count here too, though the status has no field to say so. */
function resolveService(service: MultiClusterService, world: BackendWorld, options: BackendOptions): ResolvedObject {
  return {
    spec: service.spec,
    backends: resolveServiceBackends(service, { ...world, options }),
    certificates: [],
    findings: deprecatedFields(service),
    status: {},
  }
}

function serviceCalls(loadBalancer: MCSLoadBalancer): BalancerCalls<MultiClusterService> {
  return {
    get: (service, context) => loadBalancer.getMCSLoadBalancer(service, context),
    ensure: (service, context) => loadBalancer.ensureMCSLoadBalancer(service, context),
    update: (service, context) => loadBalancer.updateMCSLoadBalancer(service, context),
    ensureDeleted: (service, context) => loadBalancer.ensureMCSLoadBalancerDeleted(service, context),
    list: loadBalancer.listMCSLoadBalancers?.bind(loadBalancer),
  }
}
