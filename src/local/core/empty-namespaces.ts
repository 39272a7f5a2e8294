import type { ApiObject } from './api-object.ts'
import { storageKey, storageKeyOf } from './api-object.ts'
import type { CoreEnvironment } from './core-environment.ts'
import { deleteStored } from './delete-stored.ts'
import { asRecord } from './json.ts'
import { NAMESPACES } from './require-namespace.ts'
import { collectionOf } from './resource-type.ts'

const USER = { username: 'system:serviceaccount:kube-system:namespace-controller' }

/** The namespace controller: deletes what is in a terminating namespace, and lets it go when nothing is left. */
export function emptyNamespaces(environment: CoreEnvironment): void {
  const { store, background, registry } = environment

  store.observe((collection, { type, object }) => {
    if (collection === NAMESPACES && type !== 'DELETED' && isTerminating(object)) {
      background.add(() => empty(object.metadata.name))
    }
    const namespace = object.metadata.namespace ?? ''
    if (type === 'DELETED' && namespace !== '' && isTerminating(store.get(NAMESPACES, storageKey('', namespace)))) {
      background.add(async () => removeWhenEmpty(namespace))
    }
  })

  async function empty(namespace: string): Promise<void> {
    for (const { collection, object } of content(namespace)) {
      if (object.metadata.deletionTimestamp !== undefined) continue
      await deleteStored(environment, { collection, key: storageKeyOf(object) }, { user: USER, unnamed: true })
    }
    removeWhenEmpty(namespace)
  }

  function content(namespace: string): { collection: string; object: ApiObject }[] {
    return registry
      .all()
      .filter((type) => type.namespaced)
      .flatMap((type) => {
        const collection = collectionOf(type)
        const objects = (store.list(collection) ?? []).filter((object) => object.metadata.namespace === namespace)
        return objects.map((object) => ({ collection, object }))
      })
  }

  function removeWhenEmpty(namespace: string): void {
    const object = store.get(NAMESPACES, storageKey('', namespace))
    if (object === undefined || content(namespace).length > 0) return
    const finalized = { ...object, spec: { ...asRecord(object['spec']), finalizers: [] } }
    if (object.metadata.finalizers === undefined) store.remove(NAMESPACES, finalized)
  }
}

function isTerminating(namespace: ApiObject | undefined): boolean {
  return asRecord(namespace?.['status'])['phase'] === 'Terminating'
}
