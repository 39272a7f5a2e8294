import { badRequest } from './bad-request.ts'

export type JsonObject = Readonly<Record<string, unknown>>

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads typed fields of a parsed JSON object; `path` is how a message names it. Go writes an absent value as null or
 * leaves it out, so null is absent. Throws `BadRequest` for a value of another type.
 */
export class FieldReader {
  readonly value: JsonObject
  readonly path: string

  constructor(value: JsonObject, path: string) {
    this.value = value
    this.path = path
  }

  text(field: string): string | undefined {
    return this.optional(field, 'a string', isText)
  }

  requiredText(field: string, remedy: string): string {
    const sent = this.text(field)
    if (!sent) throw badRequest(join(this.path, field), `required; ${remedy}`)
    return sent
  }

  flag(field: string): boolean | undefined {
    return this.optional(field, 'true or false', isFlag)
  }

  count(field: string): number | undefined {
    return this.optional(field, 'a whole number', isCount)
  }

  texts(field: string): string[] | undefined {
    return this.optional(field, 'a list of strings', isTexts)
  }

  textMap(field: string): Record<string, string> | undefined {
    return this.optional(field, 'an object of strings', isTextMap)
  }

  object(field: string): FieldReader | undefined {
    const sent = this.optional(field, 'an object', isJsonObject)
    return sent === undefined ? undefined : new FieldReader(sent, join(this.path, field))
  }

  requiredObject(field: string, remedy: string): FieldReader {
    const sent = this.object(field)
    if (sent === undefined) throw badRequest(join(this.path, field), `required; ${remedy}`)
    return sent
  }

  private optional<T>(field: string, expected: string, isExpected: (sent: unknown) => sent is T): T | undefined {
    // Own fields only: a body must not reach what every object inherits.
    const sent = Object.hasOwn(this.value, field) ? (this.value[field] ?? undefined) : undefined
    if (sent === undefined) return undefined
    if (!isExpected(sent)) throw badRequest(join(this.path, field), `must be ${expected}`, { value: sent })
    return sent
  }
}

function join(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

function isTextMap(value: unknown): value is Record<string, string> {
  return isJsonObject(value) && Object.values(value).every(isText)
}
