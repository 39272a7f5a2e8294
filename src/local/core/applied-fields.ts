import { cloneJson, type JsonRecord } from './json.ts'

/**
 * What each field manager applied last, an object: kept here and not in `metadata.managedFields`, and only to know
 * which fields a manager has given up.
 */
export interface AppliedFields {
  get(uid: string, manager: string): JsonRecord | undefined
  set(uid: string, manager: string, applied: JsonRecord): void
  forget(uid: string): void
}

export function createAppliedFields(): AppliedFields {
  const objects = new Map<string, Map<string, JsonRecord>>()
  return {
    get: (uid, manager) => objects.get(uid)?.get(manager),
    set(uid, manager, applied) {
      const managers = objects.get(uid) ?? new Map<string, JsonRecord>()
      objects.set(uid, managers.set(manager, cloneJson(applied)))
    },
    forget(uid) {
      objects.delete(uid)
    },
  }
}
