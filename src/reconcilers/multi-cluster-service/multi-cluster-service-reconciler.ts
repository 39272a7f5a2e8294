import type { LabelSelector } from '../../domain/label-selector.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import { ownershipByType } from '../../domain/ownership.ts'
import type { MCSLoadBalancer } from '../../provider/multicluster.ts'
import type { BalancerCalls } from '../load-balancer/balancer-calls.ts'
import type { BalancerDependencies } from '../load-balancer/balancer-pass.ts'
import { createBalancerReconciler } from '../load-balancer/balancer-reconciler.ts'
import type { Reconciler } from '../reconciler.ts'

export interface MultiClusterServiceSettings {
  /** Which MultiClusterServices of type LoadBalancer are ours; empty selects all. */
  selector: LabelSelector
}

/** Serves the MultiClusterServices of type LoadBalancer that the selector chooses. */
export function createMultiClusterServiceReconciler(
  loadBalancer: MCSLoadBalancer | undefined,
  settings: MultiClusterServiceSettings,
  dependencies: BalancerDependencies,
): Reconciler {
  return createBalancerReconciler(
    {
      kind: 'MultiClusterService',
      calls: loadBalancer && serviceCalls(loadBalancer),
      ownershipOf: async (service) => ownershipByType(service, settings.selector),
    },
    dependencies,
  )
}

function serviceCalls(loadBalancer: MCSLoadBalancer): BalancerCalls<MultiClusterService> {
  return {
    get: (service, context) => loadBalancer.getMCSLoadBalancer(service, context),
    ensure: (service, context) => loadBalancer.ensureMCSLoadBalancer(service, context),
    update: (service, context) => loadBalancer.updateMCSLoadBalancer(service, context),
    ensureDeleted: (service, context) => loadBalancer.ensureMCSLoadBalancerDeleted(service, context),
  }
}
