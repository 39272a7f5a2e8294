import type { IngressClass } from '../../domain/ingress-class.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import { ownershipByClass } from '../../domain/ownership.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { LoadBalancer } from '../../provider/multicluster.ts'
import type { BalancerCalls } from '../load-balancer/balancer-calls.ts'
import type { BalancerDependencies } from '../load-balancer/balancer-pass.ts'
import { createBalancerReconciler } from '../load-balancer/balancer-reconciler.ts'
import type { Reconciler } from '../reconciler.ts'

export interface MultiClusterIngressSettings {
  /** Compared with `spec.controller` of the IngressClass. */
  controller: string
}

/**
 * Serves the MultiClusterIngresses of our class.
 *
 * Its place in the pass, once they are built: locations, blocked clusters, backends and certificates are gathered before
 * the provider is called, and join the fingerprint.
 */
export function createMultiClusterIngressReconciler(
  loadBalancer: LoadBalancer | undefined,
  settings: MultiClusterIngressSettings,
  dependencies: BalancerDependencies,
): Reconciler {
  return createBalancerReconciler(
    {
      kind: 'MultiClusterIngress',
      calls: loadBalancer && ingressCalls(loadBalancer),
      async ownershipOf(ingress, reader, signal) {
        return ownershipByClass(ingress, await candidateClasses(ingress, reader, signal), settings.controller)
      },
    },
    dependencies,
  )
}

/** The class that is named, or, when none is, all of them: one may be the default. */
async function candidateClasses(
  { spec }: MultiClusterIngress,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<IngressClass[]> {
  const name = spec?.ingressClassName
  if (name === '') return []
  if (name === undefined) return (await reader.list('IngressClass', { signal })).items
  const named = await reader.get({ kind: 'IngressClass', namespace: '', name }, { signal })
  return named === undefined ? [] : [named]
}

function ingressCalls(loadBalancer: LoadBalancer): BalancerCalls<MultiClusterIngress> {
  return {
    get: (ingress, context) => loadBalancer.getLoadBalancer(ingress, context),
    ensure: (ingress, context) => loadBalancer.ensureLoadBalancer(ingress, context),
    update: (ingress, context) => loadBalancer.updateLoadBalancer(ingress, context),
    ensureDeleted: (ingress, context) => loadBalancer.ensureLoadBalancerDeleted(ingress, context),
  }
}
