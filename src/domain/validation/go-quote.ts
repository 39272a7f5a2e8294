const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
}

/**
 * A text as it stands in the API server's messages, which is how Go's strconv.Quote writes it. Not JSON.stringify:
 * that leaves U+007F, zero-width and other invisible characters as they are.
 */
export function goQuote(text: string): string {
  // A lone half of a surrogate pair never reaches a Go server: its decoder replaces it.
  return `"${text.toWellFormed().replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|["\\]/gu, escaped)}"`
}

function escaped(character: string): string {
  return ESCAPES[character] ?? codeOf(Number(character.codePointAt(0)))
}

function codeOf(codePoint: number): string {
  const hex = codePoint.toString(16)
  if (codePoint < 0x80) return `\\x${hex.padStart(2, '0')}`
  return codePoint < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
