/** The API server cuts warnings to 256 characters once their sum passes 4096; shorter ones survive together. */
const LONGEST_WARNING = 120

const CONTROL = /\p{Cc}+/gu

/** One line of valid Unicode: control characters become a space. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(CONTROL, ' ').trim()
}

/** The API server drops a warning with a control character in it without a word (apimachinery net/http.go). */
export function cleanWarning(text: string): string {
  const characters = [...cleanText(text)]
  if (characters.length <= LONGEST_WARNING) return characters.join('')
  return `${characters.slice(0, LONGEST_WARNING - 1).join('')}…`
}
