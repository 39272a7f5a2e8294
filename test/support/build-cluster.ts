import type { ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { Node, NodeAddress } from '../../src/domain/node.ts'
import type { Service, ServiceSpec } from '../../src/domain/service.ts'

export const WEB = { kind: 'Service', namespace: 'default', name: 'web' } as const
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup'
export const OPTION = 'load-balancer.webhook-cloud-provider.dev/'

/** `S0` of the cases: type LoadBalancer, no class, one port, no annotations, not yet claimed. */
export function buildWeb(spec: ServiceSpec = {}, metadata: Partial<ObjectMeta> = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default', ...metadata },
    spec: {
      type: 'LoadBalancer',
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
      externalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      sessionAffinity: 'None',
      ...spec,
    },
  }
}

/** Annotations under our prefix. */
export function optionsOf(options: Record<string, string | null>): { metadata: { annotations: object } } {
  const entries = Object.entries(options).map(([name, value]) => [`${OPTION}${name}`, value])
  return { metadata: { annotations: Object.fromEntries(entries) } }
}

/** `Nk` of the cases: Ready, with addresses, a providerID and a pod network. */
export function buildNode(
  number: number,
  overrides: Partial<Pick<Node, 'spec'>> & { metadata?: Partial<ObjectMeta> } = {},
): Node {
  const name = `n${number}`
  const addresses: NodeAddress[] = [
    { type: 'InternalIP', address: `10.0.0.${number}` },
    { type: 'Hostname', address: name },
  ]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, ...overrides.metadata },
    spec: { providerID: `fake://i-${number}`, podCIDRs: [`10.244.${number}.0/24`], ...overrides.spec },
    status: { addresses, conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

export function nodeKey(number: number) {
  return { kind: 'Node', namespace: '', name: `n${number}` } as const
}
