import type { CatalogueError } from '../../domain/catalogue-error.ts'
import { badRequest } from './bad-request.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads typed fields of a parsed JSON object; `path` is how a message names it. Go writes an absent value as null or
 * leaves it out, so null is absent. Throws `BadRequest` for a value of another type.
 */
export interface FieldReader {
  readonly path: string
  readonly value: JsonObject
  text(field: string): string | undefined
  requiredText(field: string, remedy: string): string
  flag(field: string): boolean | undefined
  count(field: string): number | undefined
  texts(field: string): string[] | undefined
  textMap(field: string): Record<string, string> | undefined
  object(field: string): FieldReader | undefined
  requiredObject(field: string, remedy: string): FieldReader
}

export function readFields(value: JsonObject, path: string): FieldReader {
  const wrongType = (field: string, expected: string): CatalogueError =>
    badRequest(join(path, field), `must be ${expected}`, { value: value[field] })
  const optional = <T>(field: string, expected: string, check: (sent: unknown) => sent is T): T | undefined => {
    // Own fields only: a body must not reach what every object inherits.
    const sent = Object.hasOwn(value, field) ? (value[field] ?? undefined) : undefined
    if (sent === undefined) return undefined
    if (!check(sent)) throw wrongType(field, expected)
    return sent
  }
  const object = (field: string): FieldReader | undefined => {
    const sent = optional(field, 'an object', isJsonObject)
    return sent === undefined ? undefined : readFields(sent, join(path, field))
  }
  const text = (field: string) => optional(field, 'a string', isText)
  return {
    path,
    value,
    text,
    requiredText(field, remedy) {
      const sent = text(field)
      if (!sent) throw badRequest(join(path, field), `required; ${remedy}`)
      return sent
    },
    flag: (field) => optional(field, 'true or false', (sent) => typeof sent === 'boolean'),
    count: (field) => optional(field, 'a whole number', (sent): sent is number => Number.isSafeInteger(sent)),
    texts: (field) => optional(field, 'a list of strings', isTexts),
    textMap: (field) => optional(field, 'an object of strings', isTextMap),
    object,
    requiredObject(field, remedy) {
      const sent = object(field)
      if (sent === undefined) throw badRequest(join(path, field), `required; ${remedy}`)
      return sent
    },
  }
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isTextMap(value: unknown): value is Record<string, string> {
  return isJsonObject(value) && Object.values(value).every(isText)
}
