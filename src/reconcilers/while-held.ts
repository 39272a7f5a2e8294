import type { ClusterStore } from '../ports/cluster-store.ts'
import type { HeldLock } from '../ports/lock.ts'

/** The store as the holder of a lock uses it: before each request it makes sure that the lock is still its own. */
export function whileHeld(store: ClusterStore, held: HeldLock): ClusterStore {
  return {
    async get(key, options) {
      held.check()
      return store.get(key, options)
    },
    async list(kind, options) {
      held.check()
      return store.list(kind, options)
    },
    async create(kind, object, options) {
      held.check()
      return store.create(kind, object, options)
    },
    async patch(key, patch, options) {
      held.check()
      return store.patch(key, patch, options)
    },
    async delete(key, options) {
      held.check()
      return store.delete(key, options)
    },
  }
}
