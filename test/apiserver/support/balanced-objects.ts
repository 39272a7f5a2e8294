import type { Body } from '../../contracts/kubernetes-api/api-client.ts'

const ROOT = '/apis/networking.karmada.io/v1alpha1'

export type Plural = 'multiclusteringresses' | 'multiclusterservices'

/** `/apis/…/namespaces/<namespace>/multiclusteringresses/<name>/<subresource>` */
function pathOf(plural: Plural, namespace: string, ...rest: string[]): string {
  return [`${ROOT}/namespaces/${namespace}/${plural}`, ...rest].join('/')
}

export function ingressPath(namespace: string, ...rest: string[]): string {
  return pathOf('multiclusteringresses', namespace, ...rest)
}

export function servicePath(namespace: string, ...rest: string[]): string {
  return pathOf('multiclusterservices', namespace, ...rest)
}

/** Everywhere. */
export function collectionPath(plural: Plural): string {
  return `${ROOT}/${plural}`
}

/** Of the class of every installation. */
export function ingress(name: string, { metadata = {}, spec = {} }: { metadata?: object; spec?: object } = {}) {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name, ...metadata },
    spec: { ingressClassName: 'fake', defaultBackend: backend(80), ...spec },
  }
}

export function service(name: string, { spec = {} }: { spec?: object } = {}) {
  return {
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterService',
    metadata: { name },
    spec: { types: ['LoadBalancer'], ports: [{ name: 'http', port: 80 }], ...spec },
  }
}

export function backend(port: number) {
  return { service: { name: 'web', port: { number: port } } }
}

/** The addresses in the status. */
export function addressesOf({ status }: Body): string[] {
  const { loadBalancer } = (status ?? {}) as { loadBalancer?: { ingress?: { ip?: string }[] } }
  return (loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)
}
