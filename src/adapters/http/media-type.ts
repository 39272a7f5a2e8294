export interface MediaType {
  /** Lower case, without parameters: `application/json`. */
  essence: string
  /** The `charset` parameter in lower case; empty when there is none. */
  charset: string
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const ESSENCE = new RegExp(`^${TOKEN}/${TOKEN}$`)
const PARAMETER = new RegExp(`^\\s*(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")\\s*$`)

/** Reads a Content-Type (RFC 9110 §8.3.1); undefined when it is not one. */
export function parseMediaType(header: string): MediaType | undefined {
  const [essence = '', ...parameters] = header.split(';')
  if (!ESSENCE.test(essence.trim())) return undefined
  let charset = ''
  for (const parameter of parameters) {
    if (parameter.trim() === '') continue
    const match = PARAMETER.exec(parameter)
    if (match === null) return undefined
    if (match[1]?.toLowerCase() === 'charset') charset = (match[2] ?? match[3] ?? '').toLowerCase()
  }
  return { essence: essence.trim().toLowerCase(), charset }
}

/** JSON text is UTF-8 (RFC 8259 §8.1); its subset ASCII may be announced as well. */
export function isUtf8({ charset }: MediaType): boolean {
  return ['', 'utf-8', 'utf8', 'us-ascii'].includes(charset)
}

/** JSON data: any type that ends in `/json` or `+json` (CloudEvents JSON format §3.1). */
export function isJson({ essence }: MediaType): boolean {
  return essence.endsWith('/json') || essence.endsWith('+json')
}
