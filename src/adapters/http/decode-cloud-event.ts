// CloudEvents 1.0.2 over HTTP: bindings/http-protocol-binding.md, formats/json-format.md.
import { badRequest } from './bad-request.ts'
import type { CloudEvent, CloudEventData } from './cloud-event.ts'
import { checkAttributes, type NameAttribute } from './cloud-event-attributes.ts'
import { decodeHeaderValue } from './decode-header-value.ts'
import { isJsonObject, type JsonObject } from './field-reader.ts'
import { isJson, type MediaType, parseMediaType } from './media-type.ts'
import { parseJson } from './parse-json.ts'
import { mediaTypeOf, unsupported } from './request-guards.ts'

export interface CloudEventRequest {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values in turns, as they were sent: here a header that came twice can be seen. */
  rawHeaders: readonly string[]
  body: Uint8Array
}

export type CloudEventMode = 'binary' | 'structured' | 'batch'

/**
 * Reads the events of one request, none invented and nothing repaired. A batch is taken whole or not at all.
 *
 * | Content-Type begins with | mode | body |
 * |---|---|---|
 * | application/cloudevents-batch | batch | a JSON array of events, may be empty |
 * | application/cloudevents | structured | one event as a JSON object |
 * | anything else, with `ce-` headers | binary | the data alone |
 */
export function decodeCloudEvents(request: CloudEventRequest): { mode: CloudEventMode; events: CloudEvent[] } {
  const mediaType = mediaTypeOf(request)
  const essence = mediaType?.essence ?? ''
  // Asked first: the other prefix would match as well.
  if (essence.startsWith('application/cloudevents-batch')) {
    requireJsonFormat(essence, 'application/cloudevents-batch+json')
    return { mode: 'batch', events: decodeBatch(parseJson(request.body)) }
  }
  if (essence.startsWith('application/cloudevents')) {
    requireJsonFormat(essence, 'application/cloudevents+json')
    return { mode: 'structured', events: [decodeStructured(parseJson(request.body), '')] }
  }
  return { mode: 'binary', events: [decodeBinary(request, mediaType)] }
}

function requireJsonFormat(essence: string, supported: string): void {
  if (essence !== supported) throw unsupported('content-type', `only the event format ${supported} is spoken`)
}

function decodeBatch(body: unknown): CloudEvent[] {
  if (!Array.isArray(body)) throw badRequest('body', 'must be a JSON array of events', { value: body })
  return body.map((event: unknown, index) => decodeStructured(event, `[${index}]`))
}

function decodeStructured(event: unknown, path: string): CloudEvent {
  if (!isJsonObject(event)) throw badRequest(path || 'body', 'must be an event as a JSON object', { value: event })
  const named: NameAttribute = (attribute) => (path === '' ? attribute : `${path}.${attribute}`)
  const { data: _data, data_base64: _base64, ...attributes } = event
  const checked = checkAttributes(new Map(Object.entries(attributes)), named)
  return { ...checked, data: structuredData(event, checked.datacontenttype, named) }
}

/** Without a datacontenttype the data of a structured event is JSON (JSON format §3.1.1). */
function structuredData(event: JsonObject, contentType: string | undefined, named: NameAttribute): CloudEventData {
  const base64 = event['data_base64'] ?? undefined
  if (base64 === undefined) {
    return Object.hasOwn(event, 'data') ? { kind: 'json', value: event['data'] } : { kind: 'none' }
  }
  if (Object.hasOwn(event, 'data')) throw badRequest(named('data'), 'must not stand beside data_base64')
  if (typeof base64 !== 'string' || !isBase64(base64)) {
    throw badRequest(named('data_base64'), 'must be base64', { value: base64 })
  }
  const mediaType = parseMediaType(contentType ?? 'application/json')
  return dataOf(Buffer.from(base64, 'base64'), mediaType, named('data_base64'))
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function decodeBinary(request: CloudEventRequest, mediaType: MediaType | undefined): CloudEvent {
  const named: NameAttribute = (attribute) => `ce-${attribute}`
  const attributes = new Map<string, unknown>()
  for (const [name, value] of ceHeaders(request.rawHeaders)) {
    const attribute = name.slice('ce-'.length)
    if (attributes.has(attribute)) throw badRequest(name, 'must be sent once')
    attributes.set(attribute, decodeHeaderValue(name, value))
  }
  if (attributes.size === 0) {
    const remedy = 'required; send the attributes as ce- headers, or the event as application/cloudevents+json'
    throw badRequest('ce-specversion', remedy)
  }
  if (attributes.has('datacontenttype')) throw badRequest('ce-datacontenttype', 'must not be sent; use Content-Type')
  const contentType = request.headers['content-type']
  if (typeof contentType === 'string' && mediaType !== undefined) attributes.set('datacontenttype', contentType)
  return { ...checkAttributes(attributes, named), data: dataOf(request.body, mediaType, 'body') }
}

function* ceHeaders(rawHeaders: readonly string[]): Generator<[string, string]> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase()
    if (name.startsWith('ce-')) yield [name, rawHeaders[at + 1] ?? '']
  }
}

function dataOf(bytes: Uint8Array, mediaType: MediaType | undefined, field: string): CloudEventData {
  if (bytes.length === 0) return { kind: 'none' }
  if (mediaType === undefined || !isJson(mediaType)) return { kind: 'bytes', bytes }
  return { kind: 'json', value: parseJson(bytes, field) }
}
