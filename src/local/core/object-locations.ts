import type { ApiObject } from './api-object.ts'
import { storageKeyOf } from './api-object.ts'
import type { ObjectStore, StoredChange } from './object-store.ts'

export interface Location {
  collection: string
  key: string
}

/** Where the object with a uid lies, and which objects name that uid as an owner. */
export interface ObjectLocations {
  ofUid(uid: string): Location | undefined
  dependentsOf(uid: string): Location[]
}

export function trackLocations(store: ObjectStore): ObjectLocations {
  const byUid = new Map<string, Location>()
  const dependents = new Map<string, Map<string, Location>>()
  store.observe(note)
  return {
    ofUid: (uid) => byUid.get(uid),
    dependentsOf: (uid) => [...(dependents.get(uid)?.values() ?? [])],
  }

  function note(collection: string, { type, object, previous }: StoredChange): void {
    const { uid } = object.metadata
    const location = { collection, key: storageKeyOf(object) }
    if (type === 'ADDED' && uid !== undefined) byUid.set(uid, location)
    if (type === 'DELETED' && uid !== undefined) byUid.delete(uid)
    for (const owner of ownersOf(previous)) dependents.get(owner)?.delete(uid ?? '')
    if (type === 'DELETED') return
    for (const owner of ownersOf(object)) {
      const known = dependents.get(owner) ?? new Map<string, Location>()
      dependents.set(owner, known.set(uid ?? '', location))
    }
  }
}

function ownersOf(object: ApiObject | undefined): string[] {
  return (object?.metadata.ownerReferences ?? []).map((owner) => owner.uid)
}
