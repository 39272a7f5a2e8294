import type { ObjectKey } from '../domain/object-key.ts'

/**
 * Remembers something of each object from one pass to the next. Forgetting is safe, and what is kept must say so. The uid is
 * empty for what is remembered of a name, whether or not there is an object.
 */
export interface Memories<T> {
  recall(key: ObjectKey, uid: string): T | undefined
  remember(key: ObjectKey, uid: string, memory: T): void
  forget(key: ObjectKey, uid: string): void
}
