const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]"
const TYPE = new RegExp(`^(${TOKEN}*)(?:(/)(${TOKEN}*))?(.*)$`)
const PARAMETER = new RegExp(`^;\\s*(${TOKEN}+)\\s*=\\s*(?:${TOKEN}+|"(?:[^"\\\\]|\\\\.)*")\\s*`)

/**
 * What is wrong with a Content-Type, in the words of Go's parser. Which type it is does not matter to the API server,
 * only that it is one.
 */
export function mediaTypeFault(contentType: string): string | undefined {
  if (contentType.trim() === '') return undefined
  const end = contentType.indexOf(';')
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim()
  return typeFault(type) ?? (end < 0 ? undefined : parametersFault(contentType.slice(end).trim()))
}

function typeFault(type: string): string | undefined {
  const [, first = '', slash, second = '', rest = ''] = TYPE.exec(type) ?? []
  if (first === '') return 'mime: no media type'
  if (slash === undefined) return rest === '' ? undefined : 'mime: expected slash after first token'
  if (second === '') return 'mime: expected token after slash'
  return rest === '' ? undefined : 'mime: unexpected content after media subtype'
}

function parametersFault(text: string): string | undefined {
  const names = new Set<string>()
  let rest = text
  // A semicolon at the end is forgiven.
  while (rest !== '' && rest !== ';') {
    const [whole = '', name = ''] = PARAMETER.exec(rest) ?? []
    if (whole === '') return 'mime: invalid media parameter'
    if (names.has(name.toLowerCase())) return 'mime: duplicate parameter name'
    names.add(name.toLowerCase())
    rest = rest.slice(whole.length)
  }
  return undefined
}
