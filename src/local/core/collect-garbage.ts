import type { ApiObject } from './api-object.ts'
import { withMetadata } from './api-object.ts'
import type { CoreEnvironment } from './core-environment.ts'
import { deleteStored } from './delete-stored.ts'
import type { Location, ObjectLocations } from './object-locations.ts'

const USER = { username: 'system:serviceaccount:kube-system:generic-garbage-collector' }
const FOREGROUND = 'foregroundDeletion'
const ORPHAN = 'orphan'

/**
 * The garbage collector, as far as it is seen from outside: dependents of an object that went are deleted, unless
 * another owner is still there; `Foreground` deletes them first, `Orphan` lets them go free.
 */
export function collectGarbage(environment: CoreEnvironment, locations: ObjectLocations): void {
  const { store, background, registry } = environment

  store.observe((_, { type, object, previous }) => {
    const { uid = '', deletionTimestamp, finalizers = [] } = object.metadata
    if (type === 'DELETED') {
      environment.applied.forget(uid)
      if (locations.dependentsOf(uid).length > 0) background.add(() => deleteDependents(uid))
      for (const owner of previous?.metadata.ownerReferences ?? []) background.add(() => releaseOwner(owner.uid))
      return
    }
    if (type === 'ADDED' && hasLostOwner(object)) background.add(() => deleteOrDetach(locations.ofUid(uid)))
    const waits = finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN)
    if (deletionTimestamp !== undefined && waits) background.add(() => releaseOwner(uid))
  })

  function hasLostOwner(object: ApiObject): boolean {
    const owners = object.metadata.ownerReferences ?? []
    return owners.some((owner) => isServed(owner.apiVersion, owner.kind) && locations.ofUid(owner.uid) === undefined)
  }

  function isServed(apiVersion: string, kind: string): boolean {
    const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
    return registry.ofKind(group, kind) !== undefined
  }

  async function deleteDependents(owner: string): Promise<void> {
    for (const dependent of locations.dependentsOf(owner)) await deleteOrDetach(dependent)
  }

  /** Deleted when no owner is left; otherwise only the references to what is gone are taken out. */
  async function deleteOrDetach(location: Location | undefined): Promise<void> {
    const object = location && store.get(location.collection, location.key)
    if (location === undefined || object === undefined) return
    const owners = object.metadata.ownerReferences ?? []
    const present = owners.filter((owner) => locations.ofUid(owner.uid) !== undefined)
    if (present.length === owners.length) return
    if (present.length > 0) store.put(location.collection, withMetadata(object, { ownerReferences: present }))
    else await deleteStored(environment, location, { user: USER, preconditions: uidOf(object) })
  }

  /** Foreground: once the dependents are gone. Orphan: once they are free. */
  async function releaseOwner(uid: string): Promise<void> {
    const location = locations.ofUid(uid)
    const owner = location && store.get(location.collection, location.key)
    if (location === undefined || owner?.metadata.deletionTimestamp === undefined) return
    const finalizers = owner.metadata.finalizers ?? []
    const finalizer = [FOREGROUND, ORPHAN].find((name) => finalizers.includes(name))
    if (finalizer === undefined) return
    const isDone = finalizer === ORPHAN ? freeDependents(uid) : await deleteInForeground(uid)
    if (isDone) removeFinalizer(location, finalizer)
  }

  function freeDependents(uid: string): true {
    for (const { collection, key } of locations.dependentsOf(uid)) {
      const object = store.get(collection, key)
      if (object === undefined) continue
      const rest = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid)
      store.put(collection, withMetadata(object, { ownerReferences: rest.length === 0 ? undefined : rest }))
    }
    return true
  }

  async function deleteInForeground(uid: string): Promise<boolean> {
    for (const location of locations.dependentsOf(uid)) {
      const object = store.get(location.collection, location.key)
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) continue
      await deleteStored(environment, location, { user: USER, preconditions: uidOf(object) })
    }
    return locations.dependentsOf(uid).length === 0
  }

  function removeFinalizer({ collection, key }: Location, finalizer: string): void {
    const object = store.get(collection, key)
    if (object === undefined) return
    const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer)
    if (finalizers.length === 0) store.remove(collection, withMetadata(object, { finalizers: undefined }))
    else store.put(collection, withMetadata(object, { finalizers }))
  }
}

function uidOf(object: ApiObject): { uid?: string } {
  return object.metadata.uid === undefined ? {} : { uid: object.metadata.uid }
}
