import type { Node } from '../../domain/node.ts'
import type { Service, ServicePort } from '../../domain/service.ts'
import type { BalancerOptions } from '../../domain/service-balancer/balancer-options.ts'
import type { BalancerWarning, EnsureContext } from '../../provider/cloud.ts'

/** How the fake cloud is set up for one Service; in texts, so that tests and people read it. */
export interface FakeListeners {
  /** `TCP 80 → 30080`, `HTTPS 443 (certificate c-1) → 30443`. */
  ports: string[]
  /** `n1=fake://i-1`, or `n1=10.0.0.1` where nodes are reached by address. */
  hosts: string[]
  sourceRanges: string[]
  /** `http://:32000/healthz`, `tcp://:30080`. */
  healthCheck?: string
  proxyProtocol: boolean
  /** What else was asked for: `algorithm=source-ip`. */
  settings: string[]
}

export interface WantedListeners {
  listeners: FakeListeners
  warnings: BalancerWarning[]
}

/** Pure: what a Service comes to in this cloud, and what could not be done as asked. */
export function fakeListeners(
  service: Service,
  nodes: readonly Node[],
  context: EnsureContext,
  target: 'instance' | 'address',
): WantedListeners {
  const { options, sourceRanges } = context
  const ports = service.spec?.ports ?? []
  const served = ports.filter(({ nodePort = 0 }) => nodePort > 0)
  const reached = nodes.filter((node) => target === 'instance' || addressOf(node) !== undefined)
  const healthCheck = healthCheckOf(served, context)
  return {
    listeners: {
      ports: served.map((port) => describePort(port, options)),
      hosts: hostsOf(reached, target),
      sourceRanges: [...sourceRanges],
      ...(healthCheck === undefined ? {} : { healthCheck }),
      proxyProtocol: options.proxyProtocol === 'v1' || options.proxyProtocol === 'v2',
      settings: settingsOf(service, options),
    },
    warnings: [
      ...ports.filter((port) => !served.includes(port)).map(unserved),
      ...nodes.filter((node) => !reached.includes(node)).map(skipped),
    ],
  }
}

export function hostsOf(nodes: readonly Node[], target: 'instance' | 'address'): string[] {
  return nodes.flatMap((node) => {
    const where = target === 'address' ? addressOf(node) : (node.spec?.providerID ?? '')
    return where === undefined ? [] : [`${node.metadata.name}=${where}`]
  })
}

function describePort({ protocol = 'TCP', port, nodePort }: ServicePort, options: BalancerOptions): string {
  const isTls = options.tlsPorts?.includes(port) ?? options.protocol === 'https'
  const isHttp = options.httpPorts?.includes(port) ?? options.protocol === 'http'
  if (isTls && options.tlsPassthrough === true) return `TLS ${port} → ${nodePort}`
  if (isTls && options.certificate !== undefined) {
    return `HTTPS ${port} (certificate ${options.certificate}) → ${nodePort}`
  }
  return `${isHttp ? 'HTTP' : protocol} ${port} → ${nodePort}`
}

/** This cloud checks over TCP and HTTP only; where the Service speaks anything else, TCP does (C-43). No check has a PROXY header. */
function healthCheckOf([first]: readonly ServicePort[], { healthCheck, options }: EnsureContext): string | undefined {
  if (healthCheck !== undefined) return `${healthCheck.protocol}://:${healthCheck.port}${healthCheck.path}`
  const port = options.healthCheckPort ?? first?.nodePort
  if (port === undefined) return undefined
  const protocol = options.healthCheckProtocol ?? options.protocol
  return protocol === 'http' ? `http://:${port}${options.healthCheckPath ?? '/'}` : `tcp://:${port}`
}

function settingsOf({ spec }: Service, options: BalancerOptions): string[] {
  const asked = {
    algorithm: options.algorithm,
    'idle-timeout': options.idleTimeoutSeconds,
    internal: options.internal,
    address: options.staticIp ?? spec?.loadBalancerIP,
    affinity:
      spec?.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 10_800)
        : undefined,
    local: spec?.externalTrafficPolicy === 'Local' ? true : undefined,
  }
  return Object.entries(asked)
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${value}`)
}

function addressOf({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
}

function unserved({ protocol = 'TCP', port }: ServicePort): BalancerWarning {
  const message = `port ${port}/${protocol} has no node port and is not served; set allocateLoadBalancerNodePorts or nodePort`
  return { reason: 'PortNotServed', message }
}

function skipped({ metadata }: Node): BalancerWarning {
  return { reason: 'NodeSkipped', message: `node ${metadata.name} has no InternalIP yet and gets no traffic` }
}
