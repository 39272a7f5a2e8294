import type { OutgoingEvent } from './outgoing-event.ts'

/** One event in binary mode (CloudEvents HTTP binding §3.1): the attributes as headers, the data as the body. */
export function encodeCloudEvent(
  event: OutgoingEvent,
  overrides: Readonly<Record<string, string>> = {},
): { headers: Record<string, string>; body: string } {
  const { id, source, type, subject, extensions, data } = event
  const attributes = {
    specversion: '1.0',
    id,
    source,
    type,
    ...(subject === undefined ? {} : { subject }),
    ...extensions,
    ...overrides,
  }
  const headers = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, percentEncode(value)])
  return { headers: { 'content-type': 'application/json', ...Object.fromEntries(headers) }, body: JSON.stringify(data) }
}

/** §3.1.3.2: space, `"`, `%` and all outside U+0021–U+007E, as the bytes of their UTF-8. */
function percentEncode(value: string): string {
  return value.replace(/[^\x21-\x7e]|["%]/gu, (character) =>
    Buffer.from(character).reduce((text, byte) => `${text}%${byte.toString(16).toUpperCase().padStart(2, '0')}`, ''),
  )
}
