import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { ServerClock } from '../ports/server-clock.ts'

/** A cluster store with connections of its own. */
export interface OpenClusterStore extends ClusterStore, ServerClock {
  close(): Promise<void>
}

export interface LateClusterStore extends OpenClusterStore {
  /** Opens it ahead of the first call; asks nothing. Rejects where the first call would. */
  open(): Promise<unknown>
}

/** The store that `open` opens, at the latest with the first call: who never asks does not pay for its code. */
export function lateClusterStore(open: () => Promise<OpenClusterStore>, clock: Clock): LateClusterStore {
  let store: OpenClusterStore | undefined
  let opening: Promise<OpenClusterStore> | undefined

  async function opened(): Promise<OpenClusterStore> {
    opening ??= open().catch((error) => {
      opening = undefined
      throw error
    })
    store = await opening
    return store
  }

  return {
    open: opened,
    get: async (key, options) => (store ?? (await opened())).get(key, options),
    list: async (kind, options) => (store ?? (await opened())).list(kind, options),
    create: async (kind, object, options) => (store ?? (await opened())).create(kind, object, options),
    patch: async (key, patch, options) => (store ?? (await opened())).patch(key, patch, options),
    delete: async (key, options) => (store ?? (await opened())).delete(key, options),
    // As the store's own, which has no answer to go by before the first.
    serverNow: () => (store === undefined ? clock.now() : store.serverNow()),
    async close() {
      const last = await opening?.catch(() => undefined)
      await last?.close()
    },
  }
}
