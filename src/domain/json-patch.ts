import type { JsonValue } from './kubernetes-object.ts'

/** RFC 6902, without `move` and `copy`, which we never send. */
export type JsonPatchOperation =
  | { op: 'add' | 'replace' | 'test'; path: string; value: JsonValue }
  | { op: 'remove'; path: string }
