import type { ApiObject } from './api-object.ts'
import { storageKey, withMetadata } from './api-object.ts'
import type { CoreEnvironment } from './core-environment.ts'
import { timestampOf } from './core-environment.ts'
import { CRD_CLEANUP } from './delete-object.ts'

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io'

/**
 * A CRD is served as soon as it is stored. When it is deleted its objects go without admission (protocols §1.8),
 * those with finalizers only get a deletionTimestamp, and the CRD waits for them.
 */
export function serveCustomResources(environment: CoreEnvironment): void {
  const { store, registry, background, clock } = environment

  store.observe((collection, { type, object }) => {
    if (collection === DEFINITIONS) {
      if (type === 'DELETED') {
        registry.stopServing(object.metadata.name)
        store.drop(object.metadata.name)
      } else if (object.metadata.deletionTimestamp === undefined) registry.serve(object)
      else background.add(async () => removeObjects(object.metadata.name))
    } else if (type === 'DELETED' && definitionOf(collection)?.metadata.deletionTimestamp !== undefined) {
      background.add(async () => releaseWhenEmpty(collection))
    }
  })

  function definitionOf(name: string): ApiObject | undefined {
    return store.get(DEFINITIONS, storageKey('', name))
  }

  function removeObjects(collection: string): void {
    for (const object of [...(store.list(collection) ?? [])]) {
      const { finalizers, deletionTimestamp, generation = 0 } = object.metadata
      if (finalizers === undefined) store.remove(collection, object)
      else if (deletionTimestamp === undefined) {
        const now = timestampOf(clock.now())
        const marks = { deletionTimestamp: now, deletionGracePeriodSeconds: 0, generation: generation + 1 }
        store.put(collection, withMetadata(object, marks))
      }
    }
    releaseWhenEmpty(collection)
  }

  function releaseWhenEmpty(collection: string): void {
    const definition = definitionOf(collection)
    if (definition === undefined || (store.list(collection) ?? []).length > 0) return
    const finalizers = (definition.metadata.finalizers ?? []).filter((name) => name !== CRD_CLEANUP)
    if (finalizers.length > 0) store.put(DEFINITIONS, withMetadata(definition, { finalizers }))
    else store.remove(DEFINITIONS, withMetadata(definition, { finalizers: undefined }))
  }
}
