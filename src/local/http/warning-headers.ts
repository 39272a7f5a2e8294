const MOST_CHARACTERS = 4096
const CUT_TO = 256

/**
 * The values of the Warning headers, each text once. When they are longer than 4096 characters in all, every one is
 * cut to 256, and what comes after the 4096th all the same is left out (protocols §1.3).
 */
export function warningHeaders(texts: readonly string[]): string[] {
  const printable = [...new Set(texts)].filter(isPrintable)
  const isTooMuch = printable.reduce((sum, text) => sum + characters(text).length, 0) > MOST_CHARACTERS
  return (isTooMuch ? cut(printable) : printable).map((text) => `299 - ${quoted(text)}`)
}

function cut(texts: readonly string[]): string[] {
  const kept: string[] = []
  let total = 0
  for (const text of texts) {
    if (total >= MOST_CHARACTERS) break
    const short = characters(text).slice(0, CUT_TO)
    total += short.length
    kept.push(short.join(''))
  }
  return kept
}

function characters(text: string): string[] {
  return [...text]
}

/** A header cannot carry control characters; the real server drops such warnings as well (protocols §1.3). */
function isPrintable(text: string): boolean {
  return text !== '' && !/\p{Cc}/u.test(text)
}

/** In UTF-8, of which Node is to write every byte as it is. */
function quoted(text: string): string {
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
  return `"${Buffer.from(escaped).toString('latin1')}"`
}
