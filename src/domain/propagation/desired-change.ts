import type { JsonPatchOperation } from '../json-patch.ts'
import type { JsonValue, KubernetesObject } from '../kubernetes-object.ts'

/** What to do about one object that we keep. `existing` is the version that was looked at: a precondition of the write. */
export type DesiredChange<T extends KubernetesObject> =
  | { do: 'create'; object: T }
  | { do: 'update'; existing: T; operations: JsonPatchOperation[] }
  | { do: 'delete'; existing: T }
  | { do: 'leave'; reason: string }

/** Puts `spec` in the place of what is there, whole, in exactly this version: fields that somebody added go too. */
export function replaceSpec<T extends KubernetesObject>(
  existing: T,
  spec: object,
  more: JsonPatchOperation[] = [],
): DesiredChange<T> {
  const { uid = null, resourceVersion = null } = existing.metadata
  return {
    do: 'update',
    existing,
    operations: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      ...more,
      { op: 'add', path: '/spec', value: spec as JsonValue },
    ],
  }
}
