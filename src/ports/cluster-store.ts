import type { JsonPatchOperation } from '../domain/json-patch.ts'
import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import type { JsonValue } from '../domain/kubernetes-object.ts'
import type { ObjectKey } from '../domain/object-key.ts'

/** What every call carries: it is given up when the signal aborts. */
export interface CallOptions {
  signal: AbortSignal
}

export interface ListOptions extends CallOptions {
  /** All namespaces when absent. */
  namespace?: string
  /** In the API's own syntax, e.g. `app=web,tier in (a,b)`. */
  labelSelector?: string
  /** Items a page; all in one page when absent. */
  limit?: number
  /** From the previous page. */
  continue?: string
}

export interface ObjectList<T> {
  items: T[]
  /** Present while there are more pages. */
  continue?: string
  resourceVersion: string
}

/**
 * Reads from the API server, always the most recent state (never `resourceVersion=0`).
 * Throws a `CatalogueError` for everything but "not found"; an expired continue token is `ContinueExpired`, with
 * the token for the rest where the server gives one.
 */
export interface ClusterReader {
  /** `undefined` means the server said 404 for this object, and nothing else. */
  get<K extends Kind>(key: ObjectKey & { kind: K }, options: CallOptions): Promise<ObjectOfKind[K] | undefined>
  list<K extends Kind>(kind: K, options: ListOptions): Promise<ObjectList<ObjectOfKind[K]>>
}

/**
 * What we send to change an object.
 * - `json`: RFC 6902; a failing `test` is a `Conflict`.
 * - `apply`: server-side apply: what the body names becomes ours, what it names no more goes if nobody else wants it.
 *   For keyed lists that others write too. A `metadata.resourceVersion` in it is a precondition.
 * - `merge`: RFC 7386; `metadata.uid` and `metadata.resourceVersion` in it are preconditions, a mismatch is a `Conflict`.
 */
export type Patch =
  | { type: 'json'; operations: JsonPatchOperation[] }
  | { type: 'merge'; body: JsonValue }
  | { type: 'apply'; body: JsonValue; fieldManager: string }

export interface PatchOptions extends CallOptions {
  subresource?: 'status'
}

export interface DeleteOptions extends CallOptions {
  /** Of the object as it was read; any other is left alone. */
  preconditions: { uid: string; resourceVersion: string }
}

/** Writes to the API server. Each write answers with the object as it was stored. */
export interface ClusterWriter {
  /** Throws `AlreadyExists` when the name is taken. */
  create<K extends Kind>(kind: K, object: ObjectOfKind[K], options: CallOptions): Promise<ObjectOfKind[K]>
  /** Throws `NotFound` when the object is gone and `Conflict` when a precondition fails. */
  patch<K extends Kind>(key: ObjectKey & { kind: K }, patch: Patch, options: PatchOptions): Promise<ObjectOfKind[K]>
  /** Throws `NotFound` when the object is gone and `Conflict` when it is not the one that was read. */
  delete(key: ObjectKey, options: DeleteOptions): Promise<void>
}

export interface ClusterStore extends ClusterReader, ClusterWriter {}
