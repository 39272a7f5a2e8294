import { sameJson } from './canonical-json.ts'
import type { MultiClusterIngress, MultiClusterIngressStatus } from './multi-cluster-ingress.ts'
import { referencedServices } from './referenced-services.ts'
import { boundService, clustersOfBinding, type ResourceBinding } from './resource-binding.ts'

/** Where one Service runs. `clusters` is left out where there are none, as the API stores it. */
export interface ServiceLocation {
  name: string
  clusters?: string[]
}

/** `status.serviceLocations` of an ingress: its Services by name, without those that have no binding. */
export function serviceLocations(
  ingress: MultiClusterIngress,
  bindings: readonly ResourceBinding[],
): ServiceLocation[] {
  return locateServices(ingress.metadata.namespace ?? '', referencedServices(ingress), bindings)
}

/** Services of one namespace; their names are taken as sorted. More than one binding of a Service count together. */
export function locateServices(
  namespace: string,
  names: readonly string[],
  bindings: readonly ResourceBinding[],
): ServiceLocation[] {
  return names.flatMap((name) => {
    const own = bindings.filter((binding) => {
      const bound = boundService(binding)
      return bound?.namespace === namespace && bound.name === name
    })
    if (own.length === 0) return []
    const clusters = [...new Set(own.flatMap(clustersOfBinding))].sort()
    return [{ name, ...(clusters.length === 0 ? {} : { clusters }) }]
  })
}

/** Every cluster in which one of the Services runs: sorted, each once. */
export function clustersOfLocations(locations: readonly ServiceLocation[]): string[] {
  return [...new Set(locations.flatMap(({ clusters }) => clusters ?? []))].sort()
}

/** Equal for readers: an absent list and an empty one say the same, here and within an entry. */
export function sameServiceLocations(
  a: MultiClusterIngressStatus['serviceLocations'],
  b: MultiClusterIngressStatus['serviceLocations'],
): boolean {
  return sameJson(normalised(a), normalised(b))
}

function normalised(locations: readonly ServiceLocation[] | null | undefined): ServiceLocation[] {
  return (locations ?? []).map(({ name, clusters }) => ({ name, clusters: clusters ?? [] }))
}
