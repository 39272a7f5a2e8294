import type { Cluster } from '../../src/domain/cluster.ts'
import type { EndpointSlice, SliceEndpoint, SlicePort } from '../../src/domain/endpoint-slice.ts'
import type { ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { ResourceBinding } from '../../src/domain/resource-binding.ts'
import type { Secret } from '../../src/domain/secret.ts'
import type { Service, ServicePort } from '../../src/domain/service.ts'
import type { Work } from '../../src/domain/work.ts'

// What Karmada keeps on its control plane beside the objects that are balanced. Everything lies in namespace `shop`.

export function buildTemplate(name = 'web', ports: ServicePort[] = [{ name: 'http', port: 80 }]): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop', uid: `uid-${name}` },
    spec: { ports },
  }
}

/** The binding of a Service to clusters; none means that it is scheduled nowhere. */
export function buildBinding(service: string, clusters: string[] = []): ResourceBinding {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: `${service}-service`, namespace: 'shop' },
    spec: {
      resource: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: service },
      ...(clusters.length === 0 ? {} : { clusters: clusters.map((name) => ({ name })) }),
    },
  }
}

export function buildCluster(name: string, remedyActions?: string[]): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    ...(remedyActions === undefined ? {} : { status: { remedyActions } }),
  }
}

interface SliceSettings {
  cluster?: string
  service?: string
  /** Addresses, or endpoints in full. */
  endpoints?: (string | SliceEndpoint)[]
  ports?: SlicePort[] | null
  addressType?: string
  metadata?: Partial<ObjectMeta>
}

/** A slice as Karmada ≥ v1.11 collects it from a member. */
export function buildSlice(settings: SliceSettings = {}): EndpointSlice {
  const { cluster = 'edge-a', service = 'web', endpoints = ['10.64.0.11'], metadata } = settings
  const { ports = [{ name: 'http', port: 8080 }], addressType = 'IPv4' } = settings
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `imported-${cluster}-${service}-x7k2p`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': `derived-${service}`, 'work.karmada.io/permanent-id': `id-${cluster}` },
      annotations: { 'work.karmada.io/namespace': `karmada-es-${cluster}` },
      ...metadata,
    },
    addressType,
    endpoints: endpoints.map((endpoint) => (typeof endpoint === 'string' ? { addresses: [endpoint] } : endpoint)),
    ports,
  }
}

export function buildWork(namespace: string, permanentId: string): Work {
  return {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { name: 'web-x7k2p-6c9f7d5b4', namespace, labels: { 'work.karmada.io/permanent-id': permanentId } },
  }
}

export function buildSecret(name: string, overrides: Partial<Secret> = {}): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'shop' },
    type: 'kubernetes.io/tls',
    data: { 'tls.crt': btoa(`certificate ${name}`), 'tls.key': btoa(`sensitive ${name}`) },
    ...overrides,
  }
}
