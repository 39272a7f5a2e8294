const LONGEST_ECHO = 100

/** A value of the caller as it may stand in a message or a log line: quoted, and never more than 100 characters of it. */
export function excerpt(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = typeof value === 'string' ? value : String(value)
  const shown = text.length > LONGEST_ECHO ? cut(text) : text
  if (typeof value !== 'string') return shown
  // Nobody sees these, or they rearrange what is seen: line separators, marks of direction, joiners. Properties of Unicode
  // take long to read, and most processes that are started for one review excerpt nothing.
  const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
  return JSON.stringify(shown).replace(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

function cut(text: string): string {
  const characters = [...text.slice(0, 2 * LONGEST_ECHO)]
  if (characters.length <= LONGEST_ECHO && text.length <= 2 * LONGEST_ECHO) return text
  return `${characters.slice(0, LONGEST_ECHO - 1).join('')}…`
}
