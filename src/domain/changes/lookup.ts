import { canonicalJson } from '../canonical-json.ts'
import type { Kind } from '../kinds.ts'
import type { ObjectKey } from '../object-key.ts'

/**
 * How to find the keys that a change concerns. Data, so that a thousand slice events of one Service are one lookup
 * (`lookupIdentity`), and so that nothing has to be listed while an event is accepted.
 */
export type Lookup =
  /** This key, listed or not. */
  | { find: 'key'; key: ObjectKey }
  /** MultiClusterIngresses of the namespace with a backend of this Service. */
  | { find: 'ingressesOfService'; namespace: string; service: string }
  /** The MultiClusterService of this name. */
  | { find: 'serviceOfName'; namespace: string; name: string }
  /** Both of the above for every Service whose name is in the name of this slice, of which nothing else is known. */
  | { find: 'servicesInSliceName'; namespace: string; slice: string }
  /** MultiClusterIngresses of the namespace that use this Secret. */
  | { find: 'ingressesOfSecret'; namespace: string; secret: string }
  /** Objects of all namespaces whose Services run in one of these clusters. */
  | { find: 'inClusters'; clusters: readonly string[] | 'all' }
  /** Those in this cluster whose status says otherwise of TrafficControl. */
  | { find: 'otherTrafficControl'; cluster: string; blocked: boolean }
  /** MultiClusterIngresses that name this class; with `orDefault` those without a class too. */
  | { find: 'ingressesOfClass'; name: string; orDefault: boolean }

/** Equal for equal lookups. */
export function lookupIdentity(lookup: Lookup): string {
  return canonicalJson(lookup)
}

/** What has to be listed for a lookup; no namespace means all of them. Bindings are optional, see `matchLookup`. */
export function listsForLookup(lookup: Lookup): { kinds: Kind[]; namespace?: string } {
  switch (lookup.find) {
    case 'key':
      return { kinds: [] }
    case 'serviceOfName':
      return { kinds: ['MultiClusterService'], namespace: lookup.namespace }
    case 'ingressesOfService':
    case 'ingressesOfSecret':
      return { kinds: ['MultiClusterIngress'], namespace: lookup.namespace }
    case 'servicesInSliceName':
      return { kinds: ['MultiClusterIngress', 'MultiClusterService'], namespace: lookup.namespace }
    case 'inClusters':
    case 'otherTrafficControl':
      return { kinds: ['MultiClusterIngress', 'MultiClusterService', 'ResourceBinding'] }
    case 'ingressesOfClass':
      return { kinds: ['MultiClusterIngress'] }
  }
}
