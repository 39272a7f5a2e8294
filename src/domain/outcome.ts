import type { CatalogueError } from './catalogue-error.ts'

/** What became of one reconcile. Data, not an exception: each caller is answered in its own terms (DESIGN §5). */
export type Outcome =
  /** The world is as the object asks; `acted` when that took a change. */
  | { kind: 'settled'; acted?: true }
  /** The object does not exist any more, and nothing of it is left. */
  | { kind: 'gone'; acted?: true }
  /** Not ours, or nothing to do. */
  | { kind: 'ignored'; reason: string }
  /** Not finished; look again after this many milliseconds. */
  | { kind: 'later'; afterMs: number; reason: string }
  | { kind: 'failed'; error: CatalogueError }
