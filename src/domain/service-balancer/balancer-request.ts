import { canonicalJson } from '../canonical-json.ts'
import type { Finding } from '../finding.ts'
import type { Node } from '../node.ts'
import type { Service } from '../service.ts'
import { backendNodes, hostsInput, type NodeTarget } from './backend-nodes.ts'
import { balancerInput } from './balancer-input.ts'
import type { BalancerOptions } from './balancer-options.ts'
import { parseBalancerOptions } from './parse-balancer-options.ts'
import { parseLabelSelector } from './parse-label-selector.ts'
import { sourceRanges } from './source-ranges.ts'

/** What the provider can do, with its defaults filled in. */
export interface BalancerAbilities {
  protocols: readonly string[]
  sourceRanges: boolean
  target: NodeTarget
}

export interface HealthCheck {
  protocol: 'http'
  port: number
  path: string
}

/** All that is asked of a provider for one Service. */
export interface BalancerRequest {
  options: BalancerOptions
  sourceRanges: string[]
  healthCheck: HealthCheck | undefined
  /** In the order of their names. */
  nodes: Node[]
  fingerprint: string
}

/** The faults of a Service that no cloud has to be asked about: nothing is sent to one while there are any. */
export function balancerFaults(service: Service, abilities: BalancerAbilities): Finding[] {
  const ranges = sourceRanges(service)
  return [
    ...parseBalancerOptions(service).findings,
    ...ranges.findings,
    ...(ranges.restricted && !abilities.sourceRanges ? [UNRESTRICTED] : []),
    ...protocolFaults(service, abilities.protocols),
  ]
}

/** Never open where somebody asked for less (C-39). */
const UNRESTRICTED: Finding = {
  field: 'spec.loadBalancerSourceRanges',
  reason: 'FieldValueForbidden',
  message: 'Forbidden: this provider cannot restrict sources, and would let everybody in',
}

/** Deviation 11: an unsupported protocol fails the Service; it is never served as another one. */
function protocolFaults({ spec }: Service, supported: readonly string[]): Finding[] {
  return (spec?.ports ?? []).flatMap(({ protocol = 'TCP', port }, index) =>
    supported.includes(protocol)
      ? []
      : [
          {
            field: `spec.ports[${index}].protocol`,
            reason: 'FieldValueNotSupported' as const,
            message: `Unsupported value: ${JSON.stringify(protocol)}: port ${port}: supported values: ${supported.join(', ')}`,
          },
        ],
  )
}

/** What is asked for a Service without faults. The fingerprint has one part for the Service and one for the hosts. */
export function balancerRequest(
  service: Service,
  nodes: readonly Node[],
  { target }: BalancerAbilities,
  digest: (text: string) => string,
): BalancerRequest {
  const { options } = parseBalancerOptions(service)
  const backends = backendNodes(nodes, parseLabelSelector(options.nodeSelector ?? '') ?? {})
  const own = digest(canonicalJson(balancerInput(service)))
  const hosts = digest(canonicalJson(hostsInput(backends, target)))
  return {
    options,
    sourceRanges: sourceRanges(service).ranges,
    healthCheck: healthCheckOf(service),
    nodes: backends,
    fingerprint: [own, hosts].map((part) => part.slice(0, PART)).join('.'),
  }
}

// Short enough, together with a dot, for the 63 characters of a label or tag.
const PART = 24

/** Whether the balancer differs from what is asked in nothing but its hosts (R-SVC-24). */
export function differsInHostsOnly(fingerprint: string, stored: string): boolean {
  return fingerprint !== stored && fingerprint.split('.')[0] === stored.split('.')[0]
}

/** R-SVC-16: with traffic kept local, kube-proxy itself tells where pods are. */
function healthCheckOf({ spec }: Service): HealthCheck | undefined {
  const port = spec?.healthCheckNodePort ?? 0
  return spec?.externalTrafficPolicy === 'Local' && port !== 0
    ? { protocol: 'http', port, path: '/healthz' }
    : undefined
}
