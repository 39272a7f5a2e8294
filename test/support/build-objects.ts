import type { Cluster } from '../../src/domain/cluster.ts'
import type { EndpointSlice, SliceEndpoint, SlicePort } from '../../src/domain/endpoint-slice.ts'
import type { IngressClass } from '../../src/domain/ingress-class.ts'
import type { KubernetesObject, ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import type { ResourceBinding } from '../../src/domain/resource-binding.ts'
import type { Secret } from '../../src/domain/secret.ts'
import type { Service, ServicePort } from '../../src/domain/service.ts'
import type { Work } from '../../src/domain/work.ts'

/** Ours in every test. */
export const FINALIZER = 'webhook-cloud-provider.dev/fake'
export const CONTROLLER = 'webhook-cloud-provider.dev/fake'
export const CLASS_NAME = 'multicloud'

type Overrides<T> = Partial<Omit<T, 'metadata'>> & { metadata?: Partial<ObjectMeta> }

/** A valid ingress of our class, not yet claimed. */
export function buildIngress({ metadata, ...rest }: Overrides<MultiClusterIngress> = {}): MultiClusterIngress {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name: 'storefront', namespace: 'shop', ...metadata },
    spec: { ingressClassName: CLASS_NAME, defaultBackend: { service: { name: 'web', port: { number: 80 } } } },
    ...rest,
  }
}

/** A valid service of type LoadBalancer, not yet claimed. */
export function buildService({ metadata, ...rest }: Overrides<MultiClusterService> = {}): MultiClusterService {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterService',
    metadata: { name: 'game', namespace: 'shop', ...metadata },
    spec: { types: ['LoadBalancer'], ports: [{ port: 80 }] },
    ...rest,
  }
}

/** Our class, unless overridden. */
export function buildClass({ metadata, ...rest }: Overrides<IngressClass> = {}): IngressClass {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    metadata: { name: CLASS_NAME, ...metadata },
    spec: { controller: CONTROLLER },
    ...rest,
  }
}

export const DEFAULT_CLASS = { 'ingressclass.kubernetes.io/is-default-class': 'true' }

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

/** What makes a Service reachable: itself, its binding to clusters, and a collected slice from each. */
export function buildServiceWorld(name: string, clusters: string[] = ['edge-a', 'edge-b']): KubernetesObject[] {
  const slices = clusters.map((cluster, index) =>
    buildSlice({ service: name, cluster, endpoints: [`10.${64 + index}.0.11`] }),
  )
  return [buildTemplate(name), buildBinding(name, clusters), ...slices]
}
