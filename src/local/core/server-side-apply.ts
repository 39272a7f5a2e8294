import type { StructuralSchema } from '../schema/structural-schema.ts'
import { cloneJson, isRecord, type JsonRecord, jsonEqual } from './json.ts'
import type { MergeKeys } from './strategic-merge-patch.ts'

/**
 * Server-side apply without ownership: what is applied wins, nothing ever conflicts, and what the same manager
 * applied before and left out now is removed.
 */
export function serverSideApply(
  current: JsonRecord,
  applied: JsonRecord,
  before: JsonRecord | undefined,
  schema: StructuralSchema,
  mergeKeys: MergeKeys,
): JsonRecord {
  const shape: Shape = { schema: withMetadataSchema(schema), mergeKeys }
  const reduced = before === undefined ? current : dropGivenUp(current, before, applied, shape)
  return merge(reduced, applied, shape) as JsonRecord
}

interface Shape {
  schema: StructuralSchema | undefined
  mergeKeys: MergeKeys
  /** Of the field, for `mergeKeys`. */
  name?: string
}

function withMetadataSchema(schema: StructuralSchema): StructuralSchema {
  const metadata: StructuralSchema = {
    properties: {
      finalizers: { type: 'array', 'x-kubernetes-list-type': 'set' },
      ownerReferences: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['uid'] },
    },
  }
  return { ...schema, properties: { ...schema.properties, metadata } }
}

function child(shape: Shape, name: string): Shape {
  const { schema } = shape
  const values = typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined
  return { schema: schema?.properties?.[name] ?? values, mergeKeys: shape.mergeKeys, name }
}

type ListKind = { type: 'atomic' } | { type: 'set' } | { type: 'map'; keys: readonly string[] }

function listKind({ schema, mergeKeys, name }: Shape): ListKind {
  const type = schema?.['x-kubernetes-list-type']
  if (type === 'set') return { type }
  if (type === 'map') return { type, keys: schema?.['x-kubernetes-list-map-keys'] ?? [] }
  const keys = type === undefined && name !== undefined ? mergeKeys[name] : undefined
  return keys === undefined ? { type: 'atomic' } : { type: 'map', keys }
}

function itemShape(shape: Shape): Shape {
  return { schema: shape.schema?.items, mergeKeys: shape.mergeKeys }
}

function isAtomicMap({ schema }: Shape): boolean {
  return schema?.['x-kubernetes-map-type'] === 'atomic'
}

/** A key that is left out stands for its default: a port without protocol is the TCP one. */
function sameItem(left: unknown, right: unknown, keys: readonly string[], { schema }: Shape): boolean {
  if (!isRecord(left) || !isRecord(right)) return false
  return keys.every((key) => {
    const absent = schema?.items?.properties?.[key]?.default ?? (key === 'protocol' ? 'TCP' : undefined)
    return jsonEqual(left[key] ?? absent, right[key] ?? absent)
  })
}

function merge(current: unknown, applied: unknown, shape: Shape): unknown {
  if (isRecord(applied) && isRecord(current) && !isAtomicMap(shape)) {
    const result: JsonRecord = { ...current }
    for (const [name, value] of Object.entries(applied)) {
      if (name !== '__proto__') result[name] = merge(result[name], value, child(shape, name))
    }
    return result
  }
  if (Array.isArray(applied) && Array.isArray(current)) return mergeList(current, applied, shape)
  return cloneJson(applied)
}

function mergeList(current: unknown[], applied: unknown[], shape: Shape): unknown[] {
  const kind = listKind(shape)
  if (kind.type === 'atomic') return cloneJson(applied)
  if (kind.type === 'set')
    return [...current, ...applied.filter((item) => !current.some((old) => jsonEqual(old, item)))]
  const result = [...current]
  for (const item of applied) {
    const index = result.findIndex((old) => sameItem(old, item, kind.keys, shape))
    if (index < 0) result.push(cloneJson(item))
    else result[index] = merge(result[index], item, itemShape(shape))
  }
  return result
}

function dropGivenUp(current: JsonRecord, before: JsonRecord, applied: JsonRecord, shape: Shape): JsonRecord {
  const result: JsonRecord = { ...current }
  for (const [name, old] of Object.entries(before)) {
    const value = result[name]
    if (applied[name] === undefined) {
      const rest = removeOwned(value, old, child(shape, name))
      if (rest === undefined) delete result[name]
      else result[name] = rest
    } else if (isRecord(value) && isRecord(old) && isRecord(applied[name])) {
      result[name] = dropGivenUp(value, old, applied[name], child(shape, name))
    } else if (Array.isArray(value) && Array.isArray(old)) {
      result[name] = dropItems(value, old, applied[name], child(shape, name))
    }
  }
  return result
}

/** A container the manager gave up keeps what others put into it. */
function removeOwned(value: unknown, old: unknown, shape: Shape): unknown {
  if (isRecord(value) && isRecord(old) && !isAtomicMap(shape)) {
    const rest = dropGivenUp(value, old, {}, shape)
    return Object.keys(rest).length === 0 ? undefined : rest
  }
  if (Array.isArray(value) && Array.isArray(old)) {
    const rest = dropItems(value, old, [], shape)
    return rest.length === 0 ? undefined : rest
  }
  return undefined
}

function dropItems(current: unknown[], before: unknown[], applied: unknown, shape: Shape): unknown[] {
  const kind = listKind(shape)
  const wanted = Array.isArray(applied) ? applied : []
  if (kind.type === 'atomic') return wanted.length === 0 ? [] : current
  const same = (left: unknown, right: unknown) =>
    kind.type === 'set' ? jsonEqual(left, right) : sameItem(left, right, kind.keys, shape)
  return current.filter((item) => {
    const wasOurs = before.some((old) => same(old, item))
    return !wasOurs || wanted.some((next) => same(next, item))
  })
}
