import { blockedClusters } from '../blocked-clusters.ts'
import { type Cluster, isUnderTrafficControl } from '../cluster.ts'
import type { EndpointSlice } from '../endpoint-slice.ts'
import type { MultiClusterIngress } from '../multi-cluster-ingress.ts'
import type { MultiClusterService } from '../multi-cluster-service.ts'
import { ingressBackends } from '../referenced-services.ts'
import type { ResourceBinding } from '../resource-binding.ts'
import type { Service } from '../service.ts'
import { clustersOfLocations, locateServices } from '../service-locations.ts'
import type { Work } from '../work.ts'
import { type BackendFinding, warning } from './backend-finding.ts'
import type { BackendOptions } from './backend-options.ts'
import type { Backends, ResolvedState } from './backends.ts'
import { resolveService, type ServiceRequest } from './resolve-service.ts'
import { ingressPortReferences, servicePortReferences, wantedByIngress, wantedByService } from './wanted-ports.ts'

/** The world that backends are resolved from. Lists may hold more than is needed. */
export interface BackendsInput {
  services: readonly Service[]
  bindings: readonly ResourceBinding[]
  slices: readonly EndpointSlice[]
  clusters: readonly Cluster[]
  /** Needed for slices with a `permanentIdToLookUp`. */
  works: readonly Work[]
  options: BackendOptions
}

export interface ResolvedBackends {
  backends: Backends<ResolvedState>
  findings: BackendFinding[]
  /** Every cluster under TrafficControl, wherever the Services run. */
  blocked: string[]
}

/** Backends of a MultiClusterIngress: the ports that its routes name. */
export function resolveIngressBackends(ingress: MultiClusterIngress, input: BackendsInput): ResolvedBackends {
  const requests = [...ingressPortReferences(ingress)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, references]) => ({ name, references, wanted: wantedByIngress, isRoute: true, providerClusters: [] }))
  const resolved = resolveAll(ingress.metadata.namespace ?? '', requests, input)
  return { ...resolved, findings: [...resourceFindings(ingress, input.options), ...resolved.findings] }
}

/** Backends of a MultiClusterService: the Service of its name, the ports and clusters that it chooses. */
export function resolveServiceBackends(service: MultiClusterService, input: BackendsInput): ResolvedBackends {
  const request = {
    name: service.metadata.name,
    references: servicePortReferences(service),
    wanted: wantedByService,
    isRoute: false,
    providerClusters: (service.spec?.providerClusters ?? []).map(({ name }) => name),
  }
  return resolveAll(service.metadata.namespace ?? '', [request], input)
}

type Request = Pick<ServiceRequest, 'name' | 'references' | 'wanted' | 'isRoute' | 'providerClusters'>

function resolveAll(namespace: string, requests: readonly Request[], input: BackendsInput): ResolvedBackends {
  const { clusters } = input
  const resolved = requests.map((request) => resolveOne(namespace, request, input))
  return {
    backends: { services: resolved.map(({ backend }) => backend) },
    findings: resolved.flatMap(({ findings }) => findings),
    blocked: namesOf(clusters.filter(isUnderTrafficControl)),
  }
}

function resolveOne(namespace: string, request: Request, { services, bindings, clusters, ...rest }: BackendsInput) {
  const locations = locateServices(namespace, [request.name], bindings)
  const bound = clustersOfLocations(locations)
  return resolveService({
    ...rest,
    ...request,
    namespace,
    service: services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === request.name),
    bound,
    blocked: blockedClusters(locations, clusters),
    knownClusters: [...new Set([...bound, ...namesOf(clusters)])],
  })
}

function namesOf(clusters: readonly Cluster[]): string[] {
  return clusters.map(({ metadata }) => metadata.name).sort()
}

/** A resource is the provider's to read; where it cannot, the route has no backend. */
function resourceFindings(ingress: MultiClusterIngress, { supports }: BackendOptions): BackendFinding[] {
  if (supports.resourceBackends) return []
  const names = ingressBackends(ingress).flatMap(({ resource }) =>
    resource === undefined ? [] : [`${resource.kind}/${resource.name}`],
  )
  return [...new Set(names)]
    .sort()
    .map((name) => warning('ResourceBackendNotSupported', `resource backend ${name}`, 'is not supported'))
}
