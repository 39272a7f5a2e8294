const TOKEN = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const TYPE = new RegExp(`^${TOKEN}(/${TOKEN})?$`)
const PARAMETERS = new RegExp(`^(;\\s*${TOKEN}\\s*=\\s*(${TOKEN}|"([^"\\\\]|\\\\.)*")\\s*)*;?\\s*$`)

/** What the API server does not like about a Content-Type: which type it is does not matter, only that it is one. */
export function mediaTypeFault(contentType: string): string | undefined {
  if (contentType === '') return undefined
  const end = contentType.indexOf(';')
  const type = (end < 0 ? contentType : contentType.slice(0, end)).trim()
  if (!TYPE.test(type)) return type === '' ? 'mime: no media type' : 'mime: expected token after slash'
  return end < 0 || PARAMETERS.test(contentType.slice(end)) ? undefined : 'mime: invalid media parameter'
}
