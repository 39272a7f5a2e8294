import type { BackendOptions } from '../../domain/backends/backend-options.ts'
import { resolveIngressBackends } from '../../domain/backends/resolve-backends.ts'
import { resolveCertificates } from '../../domain/backends/resolve-certificates.ts'
import { blockedClusters } from '../../domain/blocked-clusters.ts'
import { hasHosts } from '../../domain/has-hosts.ts'
import {
  type HostClaims,
  type HostConflict,
  hostConflictFindings,
  hostConflicts,
  withoutLostPaths,
} from '../../domain/host-conflicts.ts'
import type { IngressClass } from '../../domain/ingress-class.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import { keyOf, type ObjectKey } from '../../domain/object-key.ts'
import { ownershipByClass } from '../../domain/ownership.ts'
import { referencedSecrets } from '../../domain/referenced-secrets.ts'
import { referencedServices } from '../../domain/referenced-services.ts'
import { serviceLocations } from '../../domain/service-locations.ts'
import { storedIngressFaults } from '../../domain/validation/stored-object-faults.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { LoadBalancer } from '../../provider/multicluster.ts'
import { type BackendSettings, backendOptions } from '../load-balancer/backend-settings.ts'
import type { ResolvedObject, Surroundings } from '../load-balancer/balanced-resource.ts'
import type { BalancerCalls } from '../load-balancer/balancer-calls.ts'
import type { BalancerDependencies } from '../load-balancer/balancer-pass.ts'
import { createBalancerReconciler } from '../load-balancer/balancer-reconciler.ts'
import type { ComputedStatus } from '../load-balancer/computed-status.ts'
import { gatherBackendWorld } from '../load-balancer/gather-backend-world.ts'
import type { Reconciler } from '../reconciler.ts'
import { createHostsInSweeps } from './hosts-in-sweep.ts'

export interface MultiClusterIngressSettings {
  /** Compared with `spec.controller` of the IngressClass. */
  controller: string
  /** Whose `status.serviceLocations` is written: that of ingresses that we serve, or of all, as the Go manager does. */
  serviceLocations: 'owned' | 'all'
  backends: BackendSettings
  claimedHosts: ClaimedHosts
}

/** Who claims which host, of the ingresses that we hold. */
export interface ClaimedHosts {
  /** As it was a moment ago. The sweep finds what came since. */
  recent(signal: AbortSignal): Promise<HostClaims>
  /** Where they have to be listed once more, this ingress as it is listed; undefined where they need not. */
  renew(key: ObjectKey, signal: AbortSignal): Promise<{ object: MultiClusterIngress | undefined } | undefined>
}

/**
 * Serves the MultiClusterIngresses of our class. Locations, blocked clusters, backends and certificates come from the
 * same pass, before the provider is called: a cluster under TrafficControl is blocked at the very first reconcile.
 */
export function createMultiClusterIngressReconciler(
  loadBalancer: LoadBalancer | undefined,
  settings: MultiClusterIngressSettings,
  dependencies: BalancerDependencies,
): Reconciler {
  const options = backendOptions(settings.backends, loadBalancer?.supports)
  return createBalancerReconciler(
    {
      kind: 'MultiClusterIngress',
      calls: loadBalancer && ingressCalls(loadBalancer),
      async ownershipOf(ingress, reader, signal) {
        return ownershipByClass(ingress, await candidateClasses(ingress, reader, signal), settings.controller)
      },
      async readAgain(ingress, signal) {
        return hasHosts(ingress)
          ? settings.claimedHosts.renew(keyOf('MultiClusterIngress', ingress), signal)
          : undefined
      },
      faultsOf: storedIngressFaults,
      surroundingsOf: async (ingress, reader, signal, conflicts) =>
        surroundingsOf(
          ingress,
          conflicts ?? (await conflictsOf(ingress, settings.claimedHosts, signal)),
          reader,
          signal,
        ),
      conflictsInSweep: createHostsInSweeps(dependencies.finalizer, settings.claimedHosts.recent),
      resolve: (ingress, surroundings) => resolveIngress(ingress, surroundings, options),
      ...(settings.serviceLocations === 'all' && { statusOfOthers: locate }),
    },
    dependencies,
  )
}

async function locate(
  ingress: MultiClusterIngress,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<ComputedStatus> {
  const { namespace = '' } = ingress.metadata
  const references = { namespace, services: referencedServices(ingress), secrets: [] }
  const { bindings } = await gatherBackendWorld(references, reader, signal)
  return { serviceLocations: serviceLocations(ingress, bindings) }
}

async function conflictsOf(
  ingress: MultiClusterIngress,
  claimedHosts: ClaimedHosts,
  signal: AbortSignal,
): Promise<HostConflict[]> {
  return hasHosts(ingress) ? hostConflicts(ingress, await claimedHosts.recent(signal)) : []
}

async function surroundingsOf(
  stored: MultiClusterIngress,
  conflicts: readonly HostConflict[],
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Surroundings> {
  const ingress = withoutLostPaths(stored, conflicts)
  const references = {
    namespace: ingress.metadata.namespace ?? '',
    services: referencedServices(ingress),
    secrets: referencedSecrets(ingress),
  }
  return { world: await gatherBackendWorld(references, reader, signal), conflicts }
}

function resolveIngress(
  stored: MultiClusterIngress,
  { world, conflicts }: Surroundings,
  options: BackendOptions,
): ResolvedObject {
  const ingress = withoutLostPaths(stored, conflicts)
  const locations = serviceLocations(ingress, world.bindings)
  const { certificates, findings } = resolveCertificates(ingress, world.secrets)
  return {
    spec: ingress.spec,
    backends: resolveIngressBackends(ingress, { ...world, options }),
    certificates,
    findings: [...hostConflictFindings(conflicts), ...findings],
    status: { serviceLocations: locations, trafficBlockClusters: blockedClusters(locations, world.clusters) },
  }
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
    list: loadBalancer.listLoadBalancers?.bind(loadBalancer),
  }
}
