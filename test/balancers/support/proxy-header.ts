const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n'

/**
 * The PROXY header of version 1 or 2 at the beginning of latin1 text: whom it names as the client, and what follows it.
 * Undefined while more of it is to come; the source is `none` where there is no header, or none with an address.
 */
export function splitProxyHeader(text: string): { source: string; rest: string } | undefined {
  if (text.startsWith(SIGNATURE)) return splitVersion2(text)
  if (SIGNATURE.startsWith(text)) return undefined
  if (!'PROXY '.startsWith(text.slice(0, 6))) return { source: 'none', rest: text }
  const end = text.indexOf('\r\n')
  if (end < 0) return undefined
  return { source: text.slice(0, end).split(' ')[2] ?? 'none', rest: text.slice(end + 2) }
}

function splitVersion2(text: string): { source: string; rest: string } | undefined {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 16) return undefined
  const length = 16 + bytes.readUInt16BE(14)
  if (bytes.length < length) return undefined
  const isOverIPv4 = bytes.readUInt8(13) >> 4 === 1
  const source = isOverIPv4 ? [...bytes.subarray(16, 20)].join('.') : 'none'
  return { source, rest: text.slice(length) }
}
