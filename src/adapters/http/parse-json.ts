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

export function decodeUtf8(bytes: Uint8Array, field: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed(field, 'not valid UTF-8; send UTF-8 without other encodings')
  }
}

function parseText(text: string, field: string): unknown {
  if (text.trim() === '') throw malformed(field, 'empty; send a JSON document')
  try {
    return secureJson.parse(text, { protoAction: 'error', constructorAction: 'error' })
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

function malformed(field: string, fault: string): CatalogueError {
  return new CatalogueError('BadEncoding', `${field}: ${fault}`, { field })
}

/** Level by level, without recursion. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    const next: unknown[] = []
    for (const node of level) {
      if (typeof node !== 'object' || node === null) continue
      for (const child of Object.values(node)) if (typeof child === 'object' && child !== null) next.push(child)
    }
    level = next
  }
  return false
}
