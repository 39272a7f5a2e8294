import { type Kind, RESOURCES } from '../../src/domain/kinds.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import type { RequestTarget } from '../../src/local/core/core-environment.ts'
import type { BalancedName } from './history.ts'

export const NAMESPACE = 'shop'
export const OUR_CLASS = 'multicloud'
export const OTHER_CLASS = 'nginx'
export const SECOND_CLASS = 'second'
export const GO_FINALIZERS = [
  'karmada.io/multi-cluster-ingress-controller',
  'karmada.io/multi-cluster-service-controller',
]
export const FOREIGN_FINALIZER = 'example.com/backup'

export type BalancedKind = 'MultiClusterIngress' | 'MultiClusterService'

export function kindOfName(name: BalancedName): BalancedKind {
  return name === 'game' ? 'MultiClusterService' : 'MultiClusterIngress'
}

/** The Service that an object of this name sends traffic to. */
export function serviceOfName(name: string): 'web' | 'game' {
  return name === 'game' ? 'game' : 'web'
}

export function targetOf(kind: Kind, name?: string, namespace = NAMESPACE): RequestTarget {
  const { group, version, plural, namespaced } = RESOURCES[kind]
  return { group, version, plural, ...(namespaced ? { namespace } : {}), ...(name === undefined ? {} : { name }) }
}

/** Undefined when there is none. */
export function readObject<T extends KubernetesObject>(
  core: ControlPlaneCore,
  kind: Kind,
  name: string,
): T | undefined {
  return listObjects<T>(core, kind).find(({ metadata }) => metadata.name === name)
}

export function listObjects<T extends KubernetesObject>(core: ControlPlaneCore, kind: Kind, namespace?: string): T[] {
  return core.list(targetOf(kind, undefined, namespace)).items as unknown as T[]
}
