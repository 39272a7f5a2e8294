import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import { WatchError } from './watch-error.ts'
import { apiVersionOfResource, isMetadataOnly, type WatchedResource } from './watched-resource.ts'

/** One state of one object. */
export interface ObjectIdentity {
  /** Empty for cluster-scoped objects. */
  namespace: string
  name: string
  uid: string
  resourceVersion: string
}

export interface WatchedObject {
  identity: ObjectIdentity
  /** Without managedFields; absent where only metadata is watched: annotations can hold a whole Secret. */
  object?: KubernetesObject
}

/** Takes from an item of a list or an event what may be kept of it. */
export function watchedObject(item: unknown, resource: WatchedResource): WatchedObject {
  const metadata = field(item, 'metadata')
  const [name, uid, resourceVersion] = ['name', 'uid', 'resourceVersion'].map((each) => field(metadata, each))
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string') {
    throw new WatchError('garbled', 'an object has no name, uid or resourceVersion')
  }
  const namespace = field(metadata, 'namespace')
  const identity = { namespace: typeof namespace === 'string' ? namespace : '', name, uid, resourceVersion }
  return isMetadataOnly(resource) ? { identity } : { identity, object: withoutManagedFields(item, resource) }
}

/** Items of a typed list carry neither apiVersion nor kind. */
function withoutManagedFields(item: unknown, resource: WatchedResource): KubernetesObject {
  const object = item as KubernetesObject & { metadata: { managedFields?: unknown } }
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, apiVersion: apiVersionOfResource(resource), kind: resource.kind, metadata }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
