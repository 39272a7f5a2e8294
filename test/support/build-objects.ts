import type { Cluster } from '../../src/domain/cluster.ts'
import type { EndpointSlice } from '../../src/domain/endpoint-slice.ts'
import type { IngressClass } from '../../src/domain/ingress-class.ts'
import type { KubernetesObject, ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import type { ResourceBinding } from '../../src/domain/resource-binding.ts'
import type { Service } from '../../src/domain/service.ts'

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

/** What makes a Service reachable: itself, its binding to clusters, and a collected slice from each. */
export function buildServiceWorld(
  name: string,
  clusters: readonly string[] = ['edge-a', 'edge-b'],
): KubernetesObject[] {
  const metadata = { name, namespace: 'shop' }
  const service: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  }
  const binding: ResourceBinding = {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name: `${name}-service`, namespace: 'shop' },
    spec: {
      resource: { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name },
      clusters: clusters.map((cluster) => ({ name: cluster })),
    },
  }
  const slices = clusters.map((cluster, index) => buildSlice(name, cluster, [`10.${64 + index}.0.11`]))
  return [service, binding, ...slices]
}

/** As Karmada v1.15 and later collects it from a member. */
export function buildSlice(service: string, cluster: string, addresses: readonly string[]): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `imported-${cluster}-${service}-x7k2p`,
      namespace: 'shop',
      labels: {
        'kubernetes.io/service-name': `derived-${service}`,
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.karmada.io',
      },
      annotations: { 'work.karmada.io/namespace': `karmada-es-${cluster}` },
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [...addresses], conditions: { ready: true, serving: true, terminating: false } }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  }
}

export function buildCluster(name: string, remedyActions: string[] = []): Cluster {
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    status: { remedyActions },
  }
}
