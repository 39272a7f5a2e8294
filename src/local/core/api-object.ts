import type { KubernetesObject } from '../../domain/kubernetes-object.ts'

/** An object of any kind, with whatever fields its kind has. */
export interface ApiObject extends KubernetesObject {
  [field: string]: unknown
}

/** Namespace and name in one string that sorts as the keys of etcd do. */
export function storageKey(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

export function storageKeyOf(object: ApiObject): string {
  return storageKey(object.metadata.namespace ?? '', object.metadata.name)
}

/** The same object with other metadata: fields given as `undefined` are removed. */
export function withMetadata(
  object: ApiObject,
  changes: { [K in keyof ApiObject['metadata']]?: ApiObject['metadata'][K] | undefined },
): ApiObject {
  const metadata: Record<string, unknown> = { ...object.metadata, ...changes }
  for (const key of Object.keys(metadata)) {
    if (metadata[key] === undefined) delete metadata[key]
  }
  return { ...object, metadata: metadata as unknown as ApiObject['metadata'] }
}
