import { type Cluster, isUnderTrafficControl } from './cluster.ts'
import { clustersOfLocations, type ServiceLocation } from './service-locations.ts'

/**
 * The clusters among the locations that are under TrafficControl now, sorted: `status.trafficBlockClusters` of an ingress;
 * for a MultiClusterService, whose status has no such field, with the one location of its Service.
 *
 * | among the locations | cluster | blocked |
 * |---|---|---|
 * | yes | has TrafficControl | yes |
 * | yes | has not, whatever its conditions say | no |
 * | yes | is not registered any more | no: nothing is latched |
 * | no | any | no |
 */
export function blockedClusters(locations: readonly ServiceLocation[], clusters: readonly Cluster[]): string[] {
  const controlled = new Set(clusters.filter(isUnderTrafficControl).map(({ metadata }) => metadata.name))
  return clustersOfLocations(locations).filter((name) => controlled.has(name))
}
