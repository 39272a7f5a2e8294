import { cloneJson, isRecord, type JsonRecord } from './json.ts'

/** RFC 7386. Neither argument is changed. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return cloneJson(patch)
  const result: JsonRecord = isRecord(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (key === '__proto__') continue
    if (value === null) delete result[key]
    else result[key] = mergePatch(result[key], value)
  }
  return result
}
