import { sameJson } from '../../domain/canonical-json.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import {
  type LoadBalancerStatus,
  publishableStatus,
  sameLoadBalancerStatus,
} from '../../domain/load-balancer-status.ts'
import type { MultiClusterIngressStatus } from '../../domain/multi-cluster-ingress.ts'
import { type ServiceLocation, sameServiceLocations } from '../../domain/service-locations.ts'

/** Fields of the status that we compute ourselves; kinds without them have none. */
export interface ComputedStatus {
  serviceLocations?: ServiceLocation[]
  trafficBlockClusters?: string[]
}

/** Everything of a status that is ours. An absent field is left as it is; an empty one is cleared. */
export interface PublishedStatus extends ComputedStatus {
  loadBalancer?: LoadBalancerStatus
}

type StoredStatus = MultiClusterIngressStatus | undefined

/** A merge patch of what readers would see differently; undefined when that is nothing. */
export function statusPatch(stored: StoredStatus, wanted: PublishedStatus): { [key: string]: JsonValue } | undefined {
  const { loadBalancer, serviceLocations, trafficBlockClusters } = wanted
  const patch: { [key: string]: JsonValue } = {}
  if (loadBalancer !== undefined && !sameLoadBalancerStatus(stored?.loadBalancer, loadBalancer)) {
    const publishable = publishableStatus(loadBalancer)
    patch['loadBalancer'] = isEmpty(publishable.ingress) ? null : (publishable as JsonValue)
  }
  if (serviceLocations !== undefined && !sameServiceLocations(stored?.serviceLocations, serviceLocations)) {
    patch['serviceLocations'] = isEmpty(serviceLocations) ? null : (serviceLocations as unknown as JsonValue)
  }
  if (trafficBlockClusters !== undefined && !sameJson(stored?.trafficBlockClusters ?? [], trafficBlockClusters)) {
    patch['trafficBlockClusters'] = isEmpty(trafficBlockClusters) ? null : trafficBlockClusters
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

function isEmpty(list: readonly unknown[] | undefined): boolean {
  return list === undefined || list.length === 0
}
