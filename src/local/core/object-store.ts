import type { ApiObject } from './api-object.ts'
import { storageKeyOf, withMetadata } from './api-object.ts'
import { deepFreeze } from './json.ts'

/** One commit. `object` of a deletion is the last state under the deletion's own resourceVersion. */
export interface StoredChange {
  revision: number
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: ApiObject
  previous: ApiObject | undefined
}

/**
 * The etcd of this control plane: objects in collections (one a resource), one revision counter over all of them,
 * and a bounded history a collection, from which older states are rebuilt and watches resumed.
 */
export interface ObjectStore {
  revision(): number
  get(collection: string, key: string): ApiObject | undefined
  /** In key order, as of `revision` (default: now); `undefined` when the history does not reach back that far. */
  list(collection: string, revision?: number): readonly ApiObject[] | undefined
  put(collection: string, object: ApiObject): ApiObject
  remove(collection: string, object: ApiObject): ApiObject
  /** `undefined` when the history does not reach back that far. */
  changesSince(collection: string, revision: number): readonly StoredChange[] | undefined
  /** The oldest revision from which changes can still be told. */
  oldestRevision(collection: string): number
  subscribe(collection: string, listener: (change: StoredChange) => void): () => void
  /** Every change of every collection, before the watchers of its collection hear of it. */
  observe(observer: (collection: string, change: StoredChange) => void): void
  /** Forgets the history: continue tokens and watches of older revisions end with 410. */
  compact(): void
  drop(collection: string): void
}

interface Collection {
  objects: Map<string, ApiObject>
  /** Sorted keys; `undefined` after an object came or went. */
  keys: string[] | undefined
  /** In the order of the keys; `undefined` after any change. */
  ordered: ApiObject[] | undefined
  history: StoredChange[]
  /** Revision of the last change that was forgotten. */
  compacted: number
  listeners: Set<(change: StoredChange) => void>
}

export function createObjectStore(historyLimit: number): ObjectStore {
  const collections = new Map<string, Collection>()
  const outbox: { name: string; collection: Collection; change: StoredChange }[] = []
  const observers: ((collection: string, change: StoredChange) => void)[] = []
  let revision = 1
  let delivering = false

  function collectionOf(name: string): Collection {
    let collection = collections.get(name)
    if (collection === undefined) {
      collection = {
        objects: new Map(),
        keys: undefined,
        ordered: undefined,
        history: [],
        compacted: 0,
        listeners: new Set(),
      }
      collections.set(name, collection)
    }
    return collection
  }

  function record(name: string, collection: Collection, change: StoredChange): void {
    collection.ordered = undefined
    if (change.type !== 'MODIFIED') collection.keys = undefined
    collection.history.push(change)
    // Trimmed by halves, so that a long history costs nothing a write.
    if (collection.history.length > historyLimit * 2) {
      const forgotten = collection.history.splice(0, collection.history.length - historyLimit)
      collection.compacted = forgotten.at(-1)?.revision ?? collection.compacted
    }
    outbox.push({ name, collection, change })
    deliver()
  }

  /** A listener may write: its change waits until this one has reached every listener, so all see the same order. */
  function deliver(): void {
    if (delivering) return
    delivering = true
    try {
      for (let next = outbox.shift(); next !== undefined; next = outbox.shift()) {
        for (const observer of observers) observer(next.name, next.change)
        for (const listener of [...next.collection.listeners]) listener(next.change)
      }
    } finally {
      delivering = false
    }
  }

  function orderedObjects(collection: Collection): ApiObject[] {
    collection.keys ??= [...collection.objects.keys()].sort()
    collection.ordered ??= collection.keys.flatMap((key) => collection.objects.get(key) ?? [])
    return collection.ordered
  }

  function asOf(collection: Collection, at: number): ApiObject[] | undefined {
    if (at < collection.compacted) return undefined
    const objects = new Map(collection.objects)
    for (let index = collection.history.length - 1; index >= 0; index--) {
      const change = collection.history[index]
      if (change === undefined || change.revision <= at) break
      if (change.previous === undefined) objects.delete(storageKeyOf(change.object))
      else objects.set(storageKeyOf(change.object), change.previous)
    }
    return [...objects].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, object]) => object)
  }

  return {
    revision: () => revision,
    get: (name, key) => collections.get(name)?.objects.get(key),
    list(name, at) {
      const collection = collectionOf(name)
      return at === undefined || at >= revision ? orderedObjects(collection) : asOf(collection, at)
    },
    put(name, object) {
      const collection = collectionOf(name)
      revision += 1
      const stored = deepFreeze(withMetadata(object, { resourceVersion: String(revision) }))
      const key = storageKeyOf(stored)
      const previous = collection.objects.get(key)
      collection.objects.set(key, stored)
      record(name, collection, {
        revision,
        type: previous === undefined ? 'ADDED' : 'MODIFIED',
        object: stored,
        previous,
      })
      return stored
    },
    remove(name, object) {
      const collection = collectionOf(name)
      revision += 1
      const last = deepFreeze(withMetadata(object, { resourceVersion: String(revision) }))
      const key = storageKeyOf(last)
      const previous = collection.objects.get(key)
      collection.objects.delete(key)
      record(name, collection, { revision, type: 'DELETED', object: last, previous })
      return last
    },
    changesSince(name, since) {
      const { history, compacted } = collectionOf(name)
      if (since < compacted) return undefined
      let first = history.length
      while (first > 0 && (history[first - 1]?.revision ?? 0) > since) first -= 1
      return history.slice(first)
    },
    oldestRevision: (name) => collectionOf(name).compacted,
    subscribe(name, listener) {
      const { listeners } = collectionOf(name)
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    observe(observer) {
      observers.push(observer)
    },
    compact() {
      for (const collection of collections.values()) {
        collection.history = []
        collection.compacted = revision
      }
    },
    drop(name) {
      const collection = collections.get(name)
      if (collection !== undefined) collection.objects.clear()
      collections.delete(name)
    },
  }
}
