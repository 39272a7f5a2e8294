import type { IngressClass } from '../../domain/ingress-class.ts'
import type { LabelSelector } from '../../domain/label-selector.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import { ownershipByClass, ownershipByType } from '../../domain/ownership.ts'
import { type ExportCandidate, exportClaim } from '../../domain/propagation/export-claim.ts'
import { exportPolicyNames, type ServiceExportInput } from '../../domain/propagation/service-export-desired.ts'
import { referencedServices } from '../../domain/referenced-services.ts'
import { clustersOfLocations, locateServices } from '../../domain/service-locations.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { Digest } from '../../ports/digest.ts'

export interface ExportSettings {
  /** Compared with `spec.controller` of IngressClasses. */
  controller: string
  /** Which MultiClusterServices are ours. */
  selector: LabelSelector
  /** Ours. */
  finalizer: string
  digest: Digest
  /** Let go of everything that no object of ours holds any more, whatever it asks for. */
  disowned: boolean
}

/** Those of these ingresses that send traffic to the Service of this name. */
export type ReferringIngresses = (ingresses: readonly MultiClusterIngress[], service: string) => MultiClusterIngress[]

/** A sweep asks for each Service of a list: who refers to which is found out once a list. */
export function createReferringIngresses(): ReferringIngresses {
  const known = new WeakMap<readonly MultiClusterIngress[], Map<string, MultiClusterIngress[]>>()
  return (ingresses, service) => {
    const byService = known.get(ingresses) ?? groupByService(ingresses)
    known.set(ingresses, byService)
    return byService.get(service) ?? []
  }
}

function groupByService(ingresses: readonly MultiClusterIngress[]): Map<string, MultiClusterIngress[]> {
  const pairs = ingresses.flatMap((ingress) => referencedServices(ingress).map((service) => ({ service, ingress })))
  const groups = Map.groupBy(pairs, ({ service }) => service)
  return new Map([...groups].map(([service, own]) => [service, own.map(({ ingress }) => ingress)]))
}

export interface ExportSnapshot extends ServiceExportInput {
  /** Who is to be told of what stands in the way. */
  owners: (MultiClusterIngress | MultiClusterService)[]
}

/** Everything that the export of one Service depends on. */
export async function gatherServiceExport(
  { namespace, name }: ObjectKey,
  settings: ExportSettings,
  reader: ClusterReader,
  signal: AbortSignal,
  referringIngresses = createReferringIngresses(),
): Promise<ExportSnapshot> {
  const named = <K extends 'Service' | 'ServiceExport' | 'MultiClusterService'>(kind: K) =>
    reader.get({ kind, namespace, name }, { signal })
  const policyNames = exportPolicyNames(name, settings.digest)
  const [service, serviceExport, balanced, binding, ingresses, ...policies] = await Promise.all([
    named('Service'),
    named('ServiceExport'),
    named('MultiClusterService'),
    reader.get({ kind: 'ResourceBinding', namespace, name: `${name}-service`.toLowerCase() }, { signal }),
    reader.list('MultiClusterIngress', { namespace, signal }),
    ...policyNames.map((policy) => reader.get({ kind: 'PropagationPolicy', namespace, name: policy }, { signal })),
  ])
  const referring = referringIngresses(ingresses.items, name)
  const candidates = [
    ...(await ingressCandidates(referring, settings, reader, signal)),
    ...(balanced === undefined ? [] : [{ object: balanced, ownership: ownershipByType(balanced, settings.selector) }]),
  ]
  return {
    service,
    serviceExport,
    policies: policies.filter((policy) => policy !== undefined),
    claim: exportClaim({ namespace, name }, settings.disowned ? candidates.map(letGo) : candidates, settings.finalizer),
    clusters: clustersOfLocations(locateServices(namespace, [name], binding === undefined ? [] : [binding])),
    digest: settings.digest,
    owners: candidates.filter(({ ownership }) => ownership.kind === 'ours').map(({ object }) => object),
  }
}

/** Nobody's to claim; what is still held keeps what it needs. */
function letGo({ object }: ExportCandidate): ExportCandidate {
  return { object, ownership: { kind: 'unresolved', reason: 'it is let go' } }
}

async function ingressCandidates(
  ingresses: readonly MultiClusterIngress[],
  { controller }: ExportSettings,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<ExportCandidate[]> {
  if (ingresses.length === 0) return []
  const classes: IngressClass[] = (await reader.list('IngressClass', { signal })).items
  return ingresses.map((object) => ({ object, ownership: ownershipByClass(object, classes, controller) }))
}
