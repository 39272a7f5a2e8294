import type { EndpointSlice } from '../endpoint-slice.ts'
import { clusterOfSlice, type SliceSurroundings } from '../slice-cluster.ts'
import { isImportedSlice, serviceOfSlice } from '../slice-service.ts'
import { type BackendFinding, warning } from './backend-finding.ts'

/** The slices of one Service by the cluster in which their endpoints run, and a finding for each that nobody can place. */
export function attributeSlices(
  namespace: string,
  slices: readonly EndpointSlice[],
  surroundings: SliceSurroundings,
): { byCluster: Map<string, EndpointSlice[]>; findings: BackendFinding[] } {
  const own = new Map<string, EndpointSlice[]>()
  const copies = new Map<string, EndpointSlice[]>()
  const findings: BackendFinding[] = []
  for (const slice of inOrder(slices)) {
    if (!isOf(slice, namespace, surroundings.service)) continue
    const placed = clusterOfSlice(slice, surroundings)
    if (placed.cluster === undefined) {
      const subject = `endpointslice ${namespace}/${slice.metadata.name}`
      findings.push(
        warning('SliceClusterUnknown', subject, `is of an unknown cluster and does not count: ${placed.reason}`),
      )
    } else add(placed.copy ? copies : own, placed.cluster, slice)
  }
  // What a cluster reports itself is fresher than what others were sent of it.
  return { byCluster: new Map([...copies, ...own]), findings }
}

/** Only what Karmada collected is in a cluster; a slice made by hand on the control plane is not. */
function isOf(slice: EndpointSlice, namespace: string, service: string): boolean {
  return slice.metadata.namespace === namespace && isImportedSlice(slice) && serviceOfSlice(slice) === service
}

function inOrder(slices: readonly EndpointSlice[]): EndpointSlice[] {
  return slices.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

function add(map: Map<string, EndpointSlice[]>, cluster: string, slice: EndpointSlice): void {
  map.set(cluster, [...(map.get(cluster) ?? []), slice])
}
