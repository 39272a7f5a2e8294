import type { Cluster } from '../../domain/cluster.ts'
import type { EndpointSlice } from '../../domain/endpoint-slice.ts'
import { boundService, clustersOfBinding, type ResourceBinding } from '../../domain/resource-binding.ts'
import type { Secret } from '../../domain/secret.ts'
import type { Service } from '../../domain/service.ts'
import { permanentIdToLookUp } from '../../domain/slice-cluster.ts'
import type { Work } from '../../domain/work.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'

/** What an object sends traffic to and with, by name. */
export interface BackendReferences {
  namespace: string
  services: readonly string[]
  secrets: readonly string[]
}

/** Everything that backends and certificates are resolved from, as the API server has it now. */
export interface BackendWorld {
  services: Service[]
  bindings: ResourceBinding[]
  slices: EndpointSlice[]
  clusters: Cluster[]
  works: Work[]
  secrets: Secret[]
}

/**
 * Three reads a Service, one a Secret, one for all clusters where a Service runs anywhere. What does not exist is left
 * out; what could not be asked for throws, so that a pool is never emptied because of a failed read.
 */
export async function gatherBackendWorld(
  references: BackendReferences,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<BackendWorld> {
  const { namespace } = references
  const [byService, secrets] = await Promise.all([
    Promise.all(references.services.map((name) => gatherService({ namespace, name }, reader, signal))),
    Promise.all(references.secrets.map((name) => reader.get({ kind: 'Secret', namespace, name }, { signal }))),
  ])
  const bindings = byService.flatMap(({ binding }) => present(binding))
  const slices = byService.flatMap(({ slices }) => slices)
  const isBound = bindings.some(
    (binding) => boundService(binding) !== undefined && clustersOfBinding(binding).length > 0,
  )
  return {
    services: byService.flatMap(({ service }) => present(service)),
    bindings,
    slices,
    clusters: isBound ? (await reader.list('Cluster', { signal })).items : [],
    works: await worksOf(slices, reader, signal),
    secrets: secrets.flatMap(present),
  }
}

async function gatherService(
  { namespace, name }: { namespace: string; name: string },
  reader: ClusterReader,
  signal: AbortSignal,
) {
  // Karmada names the binding after name and kind, without a group or a hash (names.go:104).
  const bindingName = `${name}-service`.toLowerCase()
  const [service, binding, slices] = await Promise.all([
    reader.get({ kind: 'Service', namespace, name }, { signal }),
    reader.get({ kind: 'ResourceBinding', namespace, name: bindingName }, { signal }),
    slicesOf({ namespace, name }, reader, signal),
  ])
  return { service, binding, slices }
}

const LONGEST_LABEL = 63

/** Collected slices carry the name of the Service that Karmada derives; where that is too long for a label there are none. */
async function slicesOf(
  { namespace, name }: { namespace: string; name: string },
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<EndpointSlice[]> {
  const derived = `derived-${name}`
  if (derived.length > LONGEST_LABEL) return []
  const labelSelector = `kubernetes.io/service-name=${derived}`
  return (await reader.list('EndpointSlice', { namespace, labelSelector, signal })).items
}

/** Only slices of Karmada v1.10 leave no other trace of their cluster. */
async function worksOf(slices: readonly EndpointSlice[], reader: ClusterReader, signal: AbortSignal): Promise<Work[]> {
  const ids = [...new Set(slices.flatMap((slice) => present(permanentIdToLookUp(slice))))]
  const lists = await Promise.all(
    ids.map((id) => reader.list('Work', { labelSelector: `work.karmada.io/permanent-id=${id}`, signal })),
  )
  return lists.flatMap(({ items }) => items)
}

function present<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value]
}
