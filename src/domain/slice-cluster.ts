import type { EndpointSlice } from './endpoint-slice.ts'
import { sliceNamePrefix } from './slice-name.ts'
import type { Work } from './work.ts'

export type SliceCluster =
  | {
      cluster: string
      /** A copy that Karmada dispatched into another member, which then reported it as its own (karmada#6522). */
      copy: boolean
    }
  | { cluster: undefined; reason: string }

export interface SliceSurroundings {
  /** The Service of the slice. */
  service: string
  /** Registered clusters, and those that bindings name. */
  knownClusters: readonly string[]
  /** Only read for slices of Karmada v1.10, see `permanentIdToLookUp`. */
  works: readonly Work[]
}

const COORDINATES = 'work.karmada.io/namespace'
const PERMANENT_ID = 'work.karmada.io/permanent-id'
const EXECUTION_NAMESPACE_PREFIX = 'karmada-es-'
const IMPORTED_PREFIX = 'imported-'

/**
 * The cluster in which the endpoints of an imported slice run. The first that answers:
 *
 * | asked | written by Karmada |
 * |---|---|
 * | annotation `work.karmada.io/namespace` | ≥ v1.11, and never added to slices made before an upgrade |
 * | label `work.karmada.io/namespace` | ≤ v1.9 |
 * | namespace of the Work with the same permanent id | v1.10, which leaves no coordinates on the slice |
 * | longest known cluster after `imported-`, if the Service's name follows: `eu-west`, not `eu`, for `imported-eu-west-web-x7k2p` | all |
 *
 * A dispatched copy carries its origin in its name, after its reporter: `imported-edge-b-edge-a-web-x7k2p` is edge-a's.
 */
export function clusterOfSlice(slice: EndpointSlice, surroundings: SliceSurroundings): SliceCluster {
  const reporter =
    clusterOfNamespace(slice.metadata.annotations?.[COORDINATES]) ??
    clusterOfNamespace(slice.metadata.labels?.[COORDINATES]) ??
    clusterOfWork(slice, surroundings.works)
  return reporter === undefined ? byName(slice, surroundings) : fromReporter(slice, reporter, surroundings)
}

/** The permanent id by which the Work of a slice has to be found, when the slice does not say where it came from. */
export function permanentIdToLookUp({ metadata }: EndpointSlice): string | undefined {
  const { annotations, labels } = metadata
  const known = clusterOfNamespace(annotations?.[COORDINATES]) ?? clusterOfNamespace(labels?.[COORDINATES])
  return known === undefined ? labels?.[PERMANENT_ID] : undefined
}

function clusterOfNamespace(namespace: string | undefined): string | undefined {
  if (!namespace?.startsWith(EXECUTION_NAMESPACE_PREFIX)) return undefined
  return namespace.slice(EXECUTION_NAMESPACE_PREFIX.length) || undefined
}

function clusterOfWork({ metadata }: EndpointSlice, works: readonly Work[]): string | undefined {
  const id = metadata.labels?.[PERMANENT_ID]
  if (id === undefined) return undefined
  return clusterOfNamespace(works.find((work) => work.metadata.labels?.[PERMANENT_ID] === id)?.metadata.namespace)
}

function fromReporter(slice: EndpointSlice, reporter: string, surroundings: SliceSurroundings): SliceCluster {
  const rest = after(`${IMPORTED_PREFIX}${reporter}-`, slice.metadata.name)
  const origin = rest === undefined ? undefined : originOf(rest, surroundings)
  return { cluster: origin ?? reporter, copy: origin !== undefined }
}

function byName({ metadata: { name } }: EndpointSlice, surroundings: SliceSurroundings): SliceCluster {
  if (!name.startsWith(IMPORTED_PREFIX)) {
    return { cluster: undefined, reason: 'it has no Work coordinates and no name that Karmada gives' }
  }
  for (const reporter of longestFirst(surroundings.knownClusters)) {
    const rest = after(`${IMPORTED_PREFIX}${reporter}-`, name)
    if (rest === undefined) continue
    if (startsWithService(rest, surroundings.service)) return { cluster: reporter, copy: false }
    const origin = originOf(rest, surroundings)
    if (origin !== undefined) return { cluster: origin, copy: true }
  }
  return { cluster: undefined, reason: 'it has no Work coordinates, and no known cluster fits its name' }
}

/** Of a copy: the known cluster with which the rest of the name begins, the Service following. */
function originOf(rest: string, { service, knownClusters }: SliceSurroundings): string | undefined {
  if (startsWithService(rest, service)) return undefined
  return longestFirst(knownClusters).find((cluster) => {
    const member = after(`${cluster}-`, rest)
    return member !== undefined && startsWithService(member, service)
  })
}

function startsWithService(rest: string, service: string): boolean {
  return rest === service || rest.startsWith(sliceNamePrefix(service))
}

function longestFirst(clusters: readonly string[]): string[] {
  return clusters.toSorted((a, b) => b.length - a.length)
}

function after(prefix: string, text: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined
}
