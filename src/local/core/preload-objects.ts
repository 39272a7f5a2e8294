import type { ApiObject } from './api-object.ts'
import { withMetadata } from './api-object.ts'
import type { CoreEnvironment, ResolvedTarget } from './core-environment.ts'
import { timestampOf } from './core-environment.ts'
import { decodeObject } from './decode-object.ts'
import { collectionOf, inVersion, storageVersionOf } from './resource-type.ts'
import { validateObject } from './validate-object.ts'

/** Puts objects into the store as they are, with their status and marks of deletion; admission is not asked. */
export function preloadObjects(environment: CoreEnvironment, objects: Iterable<ApiObject>): void {
  for (const given of objects) {
    const target = targetOf(environment, given)
    const decoded = decodeObject(given, target, 'Ignore', () => {})
    const { metadata } = decoded
    const complete = withMetadata(decoded, {
      namespace: target.type.namespaced ? (metadata.namespace ?? 'default') : undefined,
      uid: metadata.uid ?? environment.uid(),
      creationTimestamp: metadata.creationTimestamp ?? timestampOf(environment.clock.now()),
      generation: target.type.generation ? (metadata.generation ?? 1) : undefined,
      resourceVersion: undefined,
    })
    const prepared = target.type.prepare?.(complete, undefined, environment.allocate) ?? complete
    validateObject(prepared, undefined, target, () => {})
    environment.store.put(target.collection, inVersion(prepared, target.type, storageVersionOf(target.type).name))
  }
}

function targetOf({ registry }: CoreEnvironment, { apiVersion, kind, metadata }: ApiObject): ResolvedTarget {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const type = registry.ofKind(group, kind)
  const served = type?.versions.find((candidate) => candidate.name === version)
  if (type === undefined || served === undefined) throw new Error(`no resource is served for ${apiVersion} ${kind}`)
  return {
    type,
    version: served,
    collection: collectionOf(type),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    subresource: '',
  }
}
