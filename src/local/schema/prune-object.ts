import { isRecord, type JsonRecord } from '../core/json.ts'
import type { StructuralSchema } from './structural-schema.ts'

interface Found {
  unknown: string[]
  keeps: boolean
}

/**
 * Without the fields its schema does not know, unless `keeps` says to leave them in; their paths are added to
 * `unknown`. `metadata` is not looked into.
 */
export function pruneObject<T extends object>(
  object: T,
  schema: StructuralSchema,
  unknown: string[],
  keeps = false,
): T {
  return prune(object, schema, '', { unknown, keeps }, true) as T
}

function prune(
  value: unknown,
  schema: StructuralSchema | undefined,
  path: string,
  found: Found,
  isRoot = false,
): unknown {
  if (schema === undefined) return value
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    return value.map((item, index) => prune(item, items, `${path}[${index}]`, found))
  }
  return isRecord(value) ? pruneRecord(value, schema, path, found, isRoot) : value
}

function isOpen(schema: StructuralSchema): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true
}

function pruneRecord(
  value: JsonRecord,
  schema: StructuralSchema,
  path: string,
  found: Found,
  isRoot: boolean,
): JsonRecord {
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true
  const isResource = isRoot || schema['x-kubernetes-embedded-resource'] === true
  const values = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  const result: JsonRecord = {}
  for (const [name, item] of Object.entries(value)) {
    const child = path === '' ? name : `${path}.${name}`
    const known = schema.properties?.[name] ?? values
    if (isResource && (name === 'apiVersion' || name === 'kind' || name === 'metadata')) result[name] = item
    // A null where none is allowed counts as absent.
    else if (known !== undefined && item === null && known.nullable !== true && !isOpen(known)) continue
    else if (known !== undefined) result[name] = prune(item, known, child, found)
    else if (keepsUnknown) result[name] = item
    else {
      found.unknown.push(child)
      if (found.keeps) result[name] = item
    }
  }
  return result
}
