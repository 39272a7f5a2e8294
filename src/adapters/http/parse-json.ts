import secureJson from 'secure-json-parse'
import { CatalogueError } from '../../domain/catalogue-error.ts'

/** The deepest real object (a CRD's schema) stays below 100; what recurses over a body must not run out of stack. */
const DEEPEST = 256

/**
 * Parses a body as JSON.
 * Refuses invalid UTF-8 instead of replacing it, keys that reach into a prototype, and nesting deeper than 256 levels.
 */
export function parseJson(body: Uint8Array, field = 'body'): unknown {
  const value = parseText(decodeUtf8(body, field), field)
  if (isDeeperThan(value, DEEPEST)) throw malformed(field, `nested deeper than ${DEEPEST} levels`)
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
  if (text.trim() === '') throw malformed(field, 'empty; send a JSON document')
  try {
    return mayNameAPrototype(text)
      ? secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
      : JSON.parse(text)
  } catch (error) {
    // The parser's own message quotes the body, so only the kind of fault is passed on.
    const forbidden = error instanceof Error && error.message.includes('forbidden prototype property')
    throw malformed(
      field,
      forbidden
        ? 'has a key "__proto__" or "constructor.prototype"; remove it'
        : 'not valid JSON; check that it is whole',
    )
  }
}

/** Whether the text has what such a key is written with, an escape among it: only then it is looked for. */
function mayNameAPrototype(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes('\\u') || text.startsWith(BOM)
}

// A second one; the decoder takes the first away.
const BOM = '\ufeff'

function malformed(field: string, fault: string): CatalogueError {
  return new CatalogueError('BadEncoding', `${field}: ${fault}`, { field })
}

/** As deep as is allowed, and no deeper: so it does not run out of stack either. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels < 0) return true
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1))
  for (const field in value) if (isDeeperThan((value as Record<string, unknown>)[field], levels - 1)) return true
  return false
}
