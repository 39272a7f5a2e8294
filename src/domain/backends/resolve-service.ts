import type { EndpointSlice } from '../endpoint-slice.ts'
import type { Service } from '../service.ts'
import type { Work } from '../work.ts'
import { attributeSlices } from './attribute-slices.ts'
import { type BackendFinding, warning } from './backend-finding.ts'
import type { BackendOptions } from './backend-options.ts'
import type { PortBackend, ResolvedState, ServiceBackend } from './backends.ts'
import { checkExternalName } from './external-name.ts'
import { describePort, type PoolScope, resolvePort } from './resolve-port.ts'
import type { PortReference, WantedPorts } from './wanted-ports.ts'

/** One Service as somebody asks for it, and what there is of it. */
export interface ServiceRequest {
  namespace: string
  name: string
  references: readonly PortReference[]
  wanted: (service: Service, references: readonly PortReference[]) => WantedPorts
  /** A route exists although its port does not; a listener is not made for a port that does not exist. */
  isRoute: boolean
  /** Only these clusters, where any are given. */
  providerClusters: readonly string[]
  service: Service | undefined
  bound: readonly string[]
  blocked: readonly string[]
  slices: readonly EndpointSlice[]
  knownClusters: readonly string[]
  works: readonly Work[]
  options: BackendOptions
}

type UnpooledState = PortBackend<ResolvedState>['state']

interface Resolution {
  backend: ServiceBackend<ResolvedState>
  findings: BackendFinding[]
}

/**
 * | Service | ports | finding |
 * |---|---|---|
 * | missing | as asked for; missing | ServiceNotFound |
 * | ExternalName, supported and harmless | as asked for; serving, without pools | – |
 * | ExternalName, else | as asked for; empty | ExternalName… |
 * | bound to no cluster | of the Service; missing | ServiceNotScheduled |
 * | all its clusters blocked | of the Service; empty | AllClustersBlocked |
 * | any other, headless or not | of the Service, a pool a cluster | – |
 * | has not the port that is asked for | as asked for; empty | ServicePortNotFound |
 */
export function resolveService(request: ServiceRequest): Resolution {
  const { namespace, name, service, references, wanted } = request
  const subject = `service ${namespace}/${name}`
  if (service === undefined) {
    return {
      backend: { namespace, name, ports: asAskedFor(references, 'missing') },
      findings: [warning('ServiceNotFound', subject, 'not found')],
    }
  }
  if (service.spec?.type === 'ExternalName') return resolveExternalName(request, service, subject)
  const { ports, unmatched } = wanted(service, references)
  const scope = chooseClusters(request, subject)
  const { byCluster, findings } = attributeSlices(namespace, request.slices, { ...request, service: name })
  const resolved = ports.map((port) => resolvePort(port, scope, byCluster, request.options.networks))
  const refusing = [...new Set(resolved.flatMap(({ refusing }) => refusing))].sort()
  return {
    backend: {
      namespace,
      name,
      ports: [...resolved.map(({ port }) => port), ...(request.isRoute ? asAskedFor(unmatched, 'empty') : [])],
    },
    findings: [
      ...portFindings(subject, unmatched),
      ...scope.findings,
      ...findings,
      ...refusing.map((cluster) =>
        warning('EndpointsNotAllowed', subject, `has endpoints in cluster ${cluster} whose addresses are not allowed`),
      ),
    ],
  }
}

/** Such a Service need not list its ports: a number is as good as a port. */
function resolveExternalName(
  { namespace, name, references, wanted, options }: ServiceRequest,
  service: Service,
  subject: string,
): Resolution {
  const checked = checkExternalName(service.spec?.externalName, options.networks)
  const usable = 'name' in checked && options.supports.externalName
  const state: UnpooledState = usable ? 'serving' : 'empty'
  const { ports, unmatched } = wanted(service, references)
  const backend: ServiceBackend<ResolvedState> = {
    namespace,
    name,
    ...(usable ? { externalName: checked.name } : {}),
    ports: [...ports.map((port) => ({ ...describePort(port), pools: [], state })), ...asAskedFor(unmatched, state)],
  }
  const nameless = portFindings(
    subject,
    unmatched.filter(({ number }) => number === undefined),
  )
  if (usable) return { backend, findings: nameless }
  const finding =
    'refused' in checked
      ? warning('ExternalNameRefused', subject, `of type ExternalName ${checked.refused}`)
      : warning('ExternalNameNotSupported', subject, 'is of type ExternalName, which is not supported')
  return { backend, findings: [finding, ...nameless] }
}

function chooseClusters(request: ServiceRequest, subject: string): PoolScope & { findings: BackendFinding[] } {
  const { bound, providerClusters, options } = request
  const clusters = providerClusters.length === 0 ? bound : bound.filter((name) => providerClusters.includes(name))
  const blocked = new Set(request.blocked)
  const scope = { clusters, blocked, findings: [] }
  if (bound.length === 0) {
    return { ...scope, findings: [warning('ServiceNotScheduled', subject, 'is scheduled to no cluster')] }
  }
  if (clusters.length === 0) {
    const rest = 'runs in none of spec.providerClusters'
    return { ...scope, findings: [warning('ProviderClustersNotBound', subject, rest)] }
  }
  if (!clusters.every((name) => blocked.has(name))) return scope
  const all = `runs in blocked clusters only (TrafficControl): ${clusters.join(', ')}`
  return options.failOpen
    ? {
        clusters,
        blocked: new Set(),
        findings: [warning('AllClustersBlocked', subject, `${all}; they keep serving (fail-open)`)],
      }
    : { ...scope, findings: [warning('AllClustersBlocked', subject, all)] }
}

/** Entries for ports that no Service port stands behind. */
function asAskedFor(references: readonly PortReference[], state: UnpooledState): PortBackend<ResolvedState>[] {
  return references.map(({ name = '', number }) => ({
    ...(number === undefined ? {} : { port: number }),
    name,
    protocol: 'TCP',
    pools: [],
    state,
  }))
}

function portFindings(subject: string, unmatched: readonly PortReference[]): BackendFinding[] {
  return unmatched.map((reference) => warning('ServicePortNotFound', subject, describeUnmatched(reference)))
}

function describeUnmatched({ name, number }: PortReference): string {
  if (name !== undefined && number !== undefined) return `has no port named ${name} with number ${number}`
  if (name !== undefined) return `has no port named ${name}`
  return number === undefined ? 'has not exactly one port, and none is chosen' : `has no port ${number}`
}
