import type { ObjectKey } from '../domain/object-key.ts'
import type { CallOptions } from './cluster-store.ts'

/** One writer per object. Taken only when there is something to write or to change in the cloud. */
export interface Lock {
  /**
   * Undefined when somebody else holds it: the holder has been told to look once more when it is done, so the caller
   * need not come back. Throws when that could not be found out or told.
   */
  acquire(key: ObjectKey, options: CallOptions): Promise<HeldLock | undefined>
  /** A note of the key, without holding it: as it was a moment ago. */
  peek(key: ObjectKey, name: string, options: CallOptions): Promise<string | undefined>
}

export interface HeldLock {
  /** A decimal number greater than that of every earlier holder of this key. */
  fence: string
  /** Aborts when the lock is lost: stop before the next step. */
  lost: AbortSignal
  /**
   * Throws when the lock is lost, also where nothing could say so yet because the process stood still. To be asked before
   * each step, for what woke us may be older than the news.
   */
  check(): void
  /** By the clock that all holders of locks share: for moments that are kept in notes. */
  now(): number
  /** A short text that is kept with the key from one holder to the next until it is removed. */
  note(name: string): string | undefined
  /** Stored when it resolves; `undefined` removes it. Throws when the lock is lost, or nobody can say. */
  setNote(name: string, text: string | undefined): Promise<void>
  /** `again`: somebody asked in the meantime, so look once more. Safe to call after the lock was lost. */
  release(): Promise<{ again: boolean }>
}
