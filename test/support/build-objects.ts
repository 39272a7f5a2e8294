import type { IngressClass } from '../../src/domain/ingress-class.ts'
import type { ObjectMeta } from '../../src/domain/kubernetes-object.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'

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
