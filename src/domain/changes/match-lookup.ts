import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import { type MultiClusterService, wantsLoadBalancer } from '../multi-cluster-service.ts'
import { keyOf, type ObjectKey } from '../object-key.ts'
import { referencedSecrets } from '../referenced-secrets.ts'
import { referencedServices } from '../referenced-services.ts'
import type { ResourceBinding } from '../resource-binding.ts'
import { clustersOfLocations, locateServices } from '../service-locations.ts'
import { sliceNamePrefix } from '../slice-name.ts'
import type { Lookup } from './lookup.ts'

/** Objects as they were listed; may be more than the lookup needs. */
export interface Listed {
  ingresses: readonly MultiClusterIngress[]
  services: readonly MultiClusterService[]
  /** Where Services run; without it a MultiClusterService, whose status does not say, is in every cluster. */
  bindings?: readonly ResourceBinding[]
}

/** The keys of a lookup among what was listed. Whose the objects are is asked later, when they are read again. */
export function matchLookup(lookup: Lookup, { ingresses, services, bindings }: Listed): ObjectKey[] {
  const match = matcherOf(lookup, bindings)
  if (lookup.find === 'key') return [lookup.key]
  return [
    ...ingresses.filter(match.ingress).map((ingress) => keyOf('MultiClusterIngress', ingress)),
    ...services.filter(match.service).map((service) => keyOf('MultiClusterService', service)),
  ]
}

interface Matcher {
  ingress: (ingress: MultiClusterIngress) => boolean
  service: (service: MultiClusterService) => boolean
}

const nothing = () => false

function matcherOf(lookup: Lookup, bindings: readonly ResourceBinding[] | undefined): Matcher {
  switch (lookup.find) {
    case 'key':
      return { ingress: nothing, service: nothing }
    case 'ingressesOfService':
      return {
        ingress: (ingress) => isIn(ingress, lookup) && referencedServices(ingress).includes(lookup.service),
        service: nothing,
      }
    case 'serviceOfName':
      return { ingress: nothing, service: (service) => isIn(service, lookup) && service.metadata.name === lookup.name }
    case 'servicesInSliceName':
      return {
        ingress: (ingress) =>
          isIn(ingress, lookup) && referencedServices(ingress).some((name) => isNamedIn(name, lookup.slice)),
        service: (service) => isIn(service, lookup) && isNamedIn(service.metadata.name, lookup.slice),
      }
    case 'ingressesOfSecret':
      return {
        ingress: (ingress) => isIn(ingress, lookup) && referencedSecrets(ingress).includes(lookup.secret),
        service: nothing,
      }
    case 'inClusters':
      return clusterMatcher(lookup.clusters, bindings)
    case 'otherTrafficControl': {
      const { ingress, service } = clusterMatcher([lookup.cluster], bindings)
      const says = ({ status }: MultiClusterIngress) => status?.trafficBlockClusters?.includes(lookup.cluster) ?? false
      return { ingress: (candidate) => ingress(candidate) && says(candidate) !== lookup.blocked, service }
    }
    case 'ingressesOfClass':
      return {
        ingress: ({ spec }) =>
          spec?.ingressClassName === lookup.name || (lookup.orDefault && spec?.ingressClassName === undefined),
        service: nothing,
      }
  }
}

/** An ingress knows its clusters from its last pass; one that had none yet is about to have it. */
function clusterMatcher(
  clusters: readonly string[] | 'all',
  bindings: readonly ResourceBinding[] | undefined,
): Matcher {
  const touches = (names: readonly string[]) =>
    clusters === 'all' ? names.length > 0 : names.some((name) => clusters.includes(name))
  return {
    ingress: ({ status }) =>
      touches([...clustersOfLocations(status?.serviceLocations ?? []), ...(status?.trafficBlockClusters ?? [])]),
    service: (service) =>
      wantsLoadBalancer(service) && (bindings === undefined || touches(clustersOf(service, bindings))),
  }
}

function clustersOf({ metadata }: MultiClusterService, bindings: readonly ResourceBinding[]): string[] {
  return clustersOfLocations(locateServices(metadata.namespace ?? '', [metadata.name], bindings))
}

function isIn({ metadata }: MultiClusterIngress | MultiClusterService, { namespace }: { namespace: string }): boolean {
  return metadata.namespace === namespace
}

/** Whether `imported-edge-a-web-x7k2p` may be a slice of `web`. Too many cost a read. */
function isNamedIn(service: string, slice: string): boolean {
  return `-${slice}-`.includes(`-${sliceNamePrefix(service)}`)
}
