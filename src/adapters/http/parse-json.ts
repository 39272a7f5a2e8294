import { CatalogueError } from '../../domain/catalogue-error.ts'

/** The deepest real object (a CRD's schema) stays below 100; what recurses over a body must not run out of stack. */
const DEEPEST = 256

/**
 * Parses a body as JSON.
 * Refuses invalid UTF-8 instead of replacing it, keys that reach into a prototype, and nesting deeper than 256 levels.
 */
export function parseJson(body: Uint8Array, field = 'body'): unknown {
  const value = parseText(decodeUtf8(body, field), field)
  const fault = isNested(value) ? faultIn(value, DEEPEST) : undefined
  if (fault !== undefined) throw malformed(field, fault)
  return value
}

const STRICT = new TextDecoder('utf-8', { fatal: true })

export function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return STRICT.decode(bytes)
  } catch {
    throw malformed(field, 'not valid UTF-8; send UTF-8 without other encodings')
  }
}

function parseText(text: string, field: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the body, so only the kind of fault is passed on.
    const isEmpty = text.trim() === ''
    throw malformed(field, isEmpty ? 'empty; send a JSON document' : 'not valid JSON; check that it is whole')
  }
}

function malformed(field: string, fault: string): CatalogueError {
  return new CatalogueError('BadEncoding', `${field}: ${fault}`, { field })
}

const TOO_DEEP = `nested deeper than ${DEEPEST} levels`
const REACHES_A_PROTOTYPE = 'has a key "__proto__" or "constructor.prototype"; remove it'

/**
 * What must not go further. One walk over every value of every body, so it is written for speed; as deep as is allowed,
 * and no deeper: so it does not run out of stack either.
 */
function faultIn(value: object, levels: number): string | undefined {
  if (levels < 0) return TOO_DEEP
  if (Array.isArray(value)) {
    for (const item of value) {
      const fault = isNested(item) ? faultIn(item, levels - 1) : undefined
      if (fault !== undefined) return fault
    }
    return undefined
  }
  for (const key in value) {
    if (key === '__proto__') return REACHES_A_PROTOTYPE
    const item = (value as Record<string, unknown>)[key]
    if (!isNested(item)) continue
    if (key === 'constructor' && Object.hasOwn(item, 'prototype')) return REACHES_A_PROTOTYPE
    const fault = faultIn(item, levels - 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
