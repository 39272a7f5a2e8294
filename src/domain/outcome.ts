import type { CatalogueError } from './catalogue-error.ts'

/**
 * What became of one reconcile. Data, not an exception: each caller is answered in its own terms (DESIGN §5). `acted` when
 * a status, a finalizer, another object or the cloud is not as it was before.
 */
export type Outcome =
  /** The world is as the object asks. */
  | { kind: 'settled'; acted?: boolean }
  /** The object does not exist any more, and nothing of it is left. */
  | { kind: 'gone'; acted?: boolean }
  /** Not ours, or nothing to do. */
  | { kind: 'ignored'; reason: string; acted?: boolean }
  /** Not finished; look again after this many milliseconds. */
  | { kind: 'later'; afterMs: number; reason: string; acted?: boolean }
  | { kind: 'failed'; error: CatalogueError }
