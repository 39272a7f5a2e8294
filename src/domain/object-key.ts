import { isKind, type Kind, RESOURCES } from './kinds.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

/** Names one object. The only thing that travels on a queue. `namespace` is empty for cluster-scoped kinds. */
export interface ObjectKey {
  kind: Kind
  namespace: string
  name: string
}

/** `MultiClusterIngress/shop/web`; cluster-scoped: `IngressClass//public`. */
export function formatKey(key: ObjectKey): string {
  return `${key.kind}/${key.namespace}/${key.name}`
}

export function isSameKey(a: ObjectKey, b: ObjectKey): boolean {
  return a.name === b.name && a.namespace === b.namespace && a.kind === b.kind
}

/** The inverse of `formatKey`; undefined for anything it did not write. */
export function parseKey(text: string): ObjectKey | undefined {
  const [kind, namespace, name, ...rest] = text.split('/')
  if (kind === undefined || namespace === undefined || !name || rest.length > 0) return undefined
  if (!isKind(kind) || RESOURCES[kind].namespaced !== (namespace !== '')) return undefined
  return { kind, namespace, name }
}

export function keyOf(kind: Kind, object: KubernetesObject): ObjectKey {
  return { kind, namespace: object.metadata.namespace ?? '', name: object.metadata.name }
}
