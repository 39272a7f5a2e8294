/**
 * A text as one argument of a configuration line, whatever it holds: between strong quotes nothing is expanded. Throws
 * for what no line can hold. Every text that came with an object passes here or through `word`.
 */
export function quoteArgument(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new TypeError('a control character or one beyond ASCII cannot be configured')
  return `'${text.replaceAll("'", `'\\''`)}'`
}
