import { cloneJson, isRecord, type JsonRecord } from '../core/json.ts'
import type { StructuralSchema } from './structural-schema.ts'

/** Fills in the defaults of the schema. A null where null is not allowed and there is a default counts as absent. */
export function defaultObject<T>(value: T, schema: StructuralSchema): T {
  return fill(value, schema) as T
}

/** Whether there is anything to fill in; most schemas have no default, and are then not walked. */
export function hasDefaults(schema: StructuralSchema): boolean {
  if (schema.default !== undefined) return true
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items === undefined ? [] : [schema.items]),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
  ]
  return children.some(hasDefaults)
}

function fill(value: unknown, schema: StructuralSchema): unknown {
  const { items } = schema
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => fill(item, items))
  if (!isRecord(value)) return value
  const result: JsonRecord = { ...value }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const present = result[name] !== undefined && (result[name] !== null || property.nullable === true)
    if (!present && property.default !== undefined) result[name] = cloneJson(property.default)
    if (result[name] !== undefined) result[name] = fill(result[name], property)
  }
  if (typeof schema.additionalProperties === 'object') {
    for (const name of Object.keys(result)) {
      if (schema.properties?.[name] === undefined) result[name] = fill(result[name], schema.additionalProperties)
    }
  }
  return result
}
