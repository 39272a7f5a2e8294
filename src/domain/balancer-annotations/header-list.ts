import type { AnnotationValue } from './annotation-values.ts'

const MOST_HEADERS = 32
const LONGEST = 1024

/** They say how a message is framed or where it goes, which is the proxy's affair. */
const PROXY_OWNED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * `Name: value`, one a line. Values are printable ASCII without what means something in the configuration of one proxy
 * or another: `"`, `\`, `` ` ``, `$`, `%`, `{`, `}`.
 */
export const headerList: AnnotationValue<Record<string, string>> = {
  values: '`Name: value`, one a line; printable ASCII without `"`, `\\`, `` ` ``, `$`, `%`, `{`, `}`',
  parse(text) {
    const headers = new Map<string, [string, string]>()
    for (const line of text.split('\n').filter((each) => each.trim() !== '')) {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).trim()
      const value = line.slice(colon + 1).trim()
      const fault = colon < 0 ? 'must be lines of the form Name: value' : headerFault(name, value)
      if (fault !== undefined) return { fault }
      if (headers.has(name.toLowerCase())) return { fault: `must not name ${name} twice` }
      headers.set(name.toLowerCase(), [name, value])
    }
    if (headers.size > MOST_HEADERS) return { fault: `must not be more than ${MOST_HEADERS}` }
    return { value: Object.fromEntries([...headers].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, header]) => header)) }
  },
}

function headerFault(name: string, value: string): string | undefined {
  if (!/^[A-Za-z][-A-Za-z0-9_]{0,127}$/.test(name)) return 'a name must be of letters, digits, dashes and underscores'
  if (PROXY_OWNED.has(name.toLowerCase())) return `${name} belongs to the proxy`
  if (value.length > LONGEST) return `the value of ${name} must not be longer than ${LONGEST}`
  if (/^[\x20\x21\x23\x26-\x5b\x5d-\x5f\x61-\x7a\x7c\x7e]*$/.test(value)) return undefined
  return `the value of ${name} must be printable ASCII without ", \\, \`, $, %, { and }`
}
