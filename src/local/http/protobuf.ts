import { badRequest, StatusError } from '../core/status-error.ts'

type Field =
  | { name: string; type: 'text' | 'bytes' | 'flag' }
  | { name: string; type: 'texts' }
  | { name: string; type: 'map' }
  | { name: string; type: 'message'; fields: Fields }
type Fields = Readonly<Record<number, Field>>

const METADATA: Fields = {
  1: { name: 'name', type: 'text' },
  2: { name: 'generateName', type: 'text' },
  3: { name: 'namespace', type: 'text' },
  11: { name: 'labels', type: 'map' },
  12: { name: 'annotations', type: 'map' },
  14: { name: 'finalizers', type: 'texts' },
}

const metadata: Field = { name: 'metadata', type: 'message', fields: METADATA }

const RESOURCE_ATTRIBUTES: Fields = Object.fromEntries(
  ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'].map((name, index) => [
    index + 1,
    { name, type: 'text' },
  ]),
)

/** Some `kubectl create …` and `kubectl auth can-i` speak only protobuf. The fields those commands fill in. */
const KINDS: Readonly<Record<string, Fields>> = {
  Namespace: { 1: metadata },
  ConfigMap: { 1: metadata, 2: { name: 'data', type: 'map' } },
  SelfSubjectAccessReview: {
    1: metadata,
    2: {
      name: 'spec',
      type: 'message',
      fields: { 1: { name: 'resourceAttributes', type: 'message', fields: RESOURCE_ATTRIBUTES } },
    },
  },
}

const MAGIC = Buffer.from('k8s\0')

/** `k8s\0`, then an envelope: apiVersion and kind in its first field, the object itself in its second. */
export function decodeProtobuf(body: Buffer): unknown {
  if (!body.subarray(0, 4).equals(MAGIC)) throw badRequest('the object provided is unrecognized: no protobuf envelope')
  const envelope = decode(body.subarray(4), {
    1: {
      name: 'type',
      type: 'message',
      fields: { 1: { name: 'apiVersion', type: 'text' }, 2: { name: 'kind', type: 'text' } },
    },
    2: { name: 'raw', type: 'bytes' },
  })
  const { apiVersion, kind } = envelope['type'] as { apiVersion?: string; kind?: string }
  const raw = envelope['raw']
  const fields = KINDS[kind ?? '']
  if (fields !== undefined) return { apiVersion, kind, ...decode(Buffer.isBuffer(raw) ? raw : Buffer.alloc(0), fields) }
  const message = `${kind} is not read as protobuf here: send application/json`
  throw new StatusError(415, 'UnsupportedMediaType', message)
}

function decode(buffer: Buffer, fields: Fields): Record<string, unknown> {
  const result: Record<string, unknown> = {}
  let offset = 0
  while (offset < buffer.length) {
    const tag = varint()
    const field = fields[tag >> 3]
    if ((tag & 7) === 0) {
      const value = varint()
      if (field?.type === 'flag') result[field.name] = value !== 0
    } else if ((tag & 7) === 2) {
      const length = varint()
      if (field !== undefined) put(result, field, buffer.subarray(offset, offset + length))
      offset += length
    } else throw badRequest('the object provided is unrecognized: a protobuf field of an unknown type')
  }
  return result

  function varint(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = buffer[offset++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) break
    }
    return value
  }
}

function put(result: Record<string, unknown>, field: Field, content: Buffer): void {
  const { name } = field
  if (field.type === 'message') result[name] = decode(content, field.fields)
  else if (field.type === 'bytes') result[name] = content
  else if (field.type === 'text') result[name] = content.toString()
  else if (field.type === 'texts')
    result[name] = [...((result[name] as string[] | undefined) ?? []), content.toString()]
  else if (field.type === 'map') {
    const entry = decode(content, { 1: { name: 'key', type: 'text' }, 2: { name: 'value', type: 'text' } })
    result[name] = { ...(result[name] as object | undefined), [String(entry['key'])]: entry['value'] ?? '' }
  }
}
