import { badRequest } from './bad-request.ts'
import { decodeUtf8 } from './parse-json.ts'

/**
 * The value of a `ce-` header (CloudEvents HTTP binding §3.1.3.2), in the order the binding gives: undo a double-quoted
 * string, then one round of percent-decoding, then UTF-8, where invalid sequences such as `%C0%A0` are refused. Node hands
 * over one character for each byte, so raw UTF-8, which some senders emit, is read as what it means.
 */
export function decodeHeaderValue(field: string, value: string): string {
  return decodeUtf8(percentDecode(field, unquote(field, value)), field)
}

function unquote(field: string, value: string): string {
  if (!value.startsWith('"')) return value
  const match = /^"((?:[^"\\]|\\.)*)"$/s.exec(value)
  if (match?.[1] === undefined) throw badRequest(field, 'a quoted value must end with its quote', { value })
  return match[1].replace(/\\(.)/gs, '$1')
}

function percentDecode(field: string, value: string): Uint8Array {
  const bytes: number[] = []
  for (let at = 0; at < value.length; at++) {
    if (value[at] !== '%') {
      const byte = value.charCodeAt(at)
      if (byte > 0xff) throw badRequest(field, 'must be percent-encoded', { value })
      bytes.push(byte)
      continue
    }
    const hex = value.slice(at + 1, at + 3)
    if (!/^[0-9A-Fa-f]{2}$/.test(hex)) throw badRequest(field, '"%" must stand before two hex digits', { value })
    bytes.push(Number.parseInt(hex, 16))
    at += 2
  }
  return Uint8Array.from(bytes)
}
