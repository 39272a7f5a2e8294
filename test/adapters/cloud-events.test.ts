import { HTTP, CloudEvent as SdkEvent } from 'cloudevents'
import t from 'tap'
import { decodeCloudEvents } from '../../src/adapters/http/decode-cloud-event.ts'
import { decodeHeaderValue } from '../../src/adapters/http/decode-header-value.ts'
import { isRfc3339 } from '../../src/adapters/http/is-rfc3339.ts'
import { isCatalogueError } from '../../src/domain/catalogue-error.ts'

const STRUCTURED = { 'content-type': 'application/cloudevents+json' }
const EVENT = { specversion: '1.0', id: '1', source: '/s', type: 't' }

function decode(headers: Record<string, string>, body: unknown) {
  const bytes = body instanceof Uint8Array ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body))
  return decodeCloudEvents({ headers, rawHeaders: Object.entries(headers).flat(), body: bytes })
}

function decodeOne(headers: Record<string, string>, body: unknown) {
  const [event] = decode(headers, body).events
  if (event === undefined) throw new Error('no event')
  return event
}

function faultOf(decodeIt: () => unknown): string {
  try {
    decodeIt()
    return 'none'
  } catch (error) {
    return isCatalogueError(error) ? `${error.code} ${error.field}` : String(error)
  }
}

t.test('header values: quotes first, then one round of percent-decoding, then UTF-8', async (t) => {
  const cases: [string, string][] = [
    ['plain', 'plain'],
    ['Euro%20%E2%82%AC', 'Euro €'],
    ['%F0%9F%98%80', '😀'],
    ['%2520', '%20'],
    ['"a b"', 'a b'],
    ['"a\\"b\\\\c"', 'a"b\\c'],
    ['"%22"', '"'],
    ['a"b"', 'a"b"'],
    ['""', ''],
    // Raw UTF-8 bytes, as Node hands them over.
    ['\u00e2\u0082\u00ac', '€'],
  ]
  for (const [sent, meant] of cases) t.equal(decodeHeaderValue('ce-x', sent), meant, sent)
  for (const sent of ['%C0%A0', '%FF', '%ED%A0%80', '\u00ff', '%', '%4', '%zz', '"open', '"a"b"', '"\\"', '€']) {
    t.match(
      faultOf(() => decodeHeaderValue('ce-x', sent)),
      /^Bad(Request|Encoding) ce-x$/,
      sent,
    )
  }
})

t.test('times of RFC 3339', async (t) => {
  for (const text of [
    '2026-03-01T08:05:00Z',
    '2026-03-01t08:05:00z',
    '2026-03-01T08:05:00.123456789+05:30',
    '2024-02-29T00:00:00-00:00',
    '2000-02-29T00:00:00Z',
    '1990-12-31T23:59:60Z',
  ]) {
    t.ok(isRfc3339(text), text)
  }
  for (const text of [
    '',
    'yesterday',
    '2026-03-01',
    '2026-03-01T08:05Z',
    '2026-03-01T08:05:00',
    '2026-03-01 08:05:00Z',
    '2026-13-01T08:05:00Z',
    '2026-00-01T08:05:00Z',
    '2026-04-31T08:05:00Z',
    '2026-02-29T08:05:00Z',
    '1900-02-29T08:05:00Z',
    '2026-03-00T08:05:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T08:60:00Z',
    '2026-03-01T08:05:61Z',
    '2026-03-01T08:05:00+24:00',
    '2026-03-01T08:05:00+05:60',
    '2026-03-01T08:05:00.Z',
    '2026-03-01T08:05:00Z\n',
  ]) {
    t.notOk(isRfc3339(text), text)
  }
})

t.test('attributes keep their type, null is unset, extensions stand apart', async (t) => {
  const { data, extensions, ...attributes } = decodeOne(STRUCTURED, {
    ...EVENT,
    subject: null,
    time: '2026-03-01T08:05:00Z',
    count: 7,
    flag: false,
    text: 'x',
    unset: null,
  })
  t.strictSame(attributes, { id: '1', source: '/s', type: 't', time: '2026-03-01T08:05:00Z' })
  t.strictSame(
    [...extensions],
    [
      ['count', 7],
      ['flag', false],
      ['text', 'x'],
    ],
  )
  t.strictSame(data, { kind: 'none' })
})

t.test('data by mode and media type', async (t) => {
  const ce = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' }
  const json = { kind: 'json', value: { a: 1 } }
  const bytes = (text: string) => ({ kind: 'bytes', bytes: Buffer.from(text) })
  const data = (headers: Record<string, string>, body: unknown) => decodeOne(headers, body).data
  t.strictSame(data({ ...ce, 'content-type': 'application/json' }, { a: 1 }), json)
  t.strictSame(data({ ...ce, 'content-type': 'Application/Vnd.x+JSON; charset=UTF-8' }, { a: 1 }), json)
  t.strictSame(data({ ...ce, 'content-type': 'text/json' }, { a: 1 }), json)
  t.same(data({ ...ce, 'content-type': 'text/plain' }, Buffer.from('hi')), bytes('hi'))
  t.same(data(ce, Buffer.from('hi')), bytes('hi'))
  t.strictSame(data({ ...ce, 'content-type': 'application/json' }, undefined), { kind: 'none' })
  t.strictSame(data(STRUCTURED, { ...EVENT, data: null }), { kind: 'json', value: null })
  t.strictSame(data(STRUCTURED, { ...EVENT, data: 'text', datacontenttype: 'text/plain' }), {
    kind: 'json',
    value: 'text',
  })
  t.strictSame(data(STRUCTURED, { ...EVENT, data_base64: null, data: { a: 1 } }), json)
  t.strictSame(data(STRUCTURED, { ...EVENT, data_base64: 'eyJhIjoxfQ==' }), json)
  t.same(data(STRUCTURED, { ...EVENT, data_base64: 'aGk=', datacontenttype: 'text/plain' }), bytes('hi'))
  t.equal(
    faultOf(() => data(STRUCTURED, { ...EVENT, data_base64: 5 })),
    'BadRequest data_base64',
  )
})

t.test('a header that came twice is refused, not joined', async (t) => {
  const rawHeaders = ['ce-id', '1', 'CE-ID', '2', 'ce-specversion', '1.0', 'ce-source', '/s', 'ce-type', 't']
  t.equal(
    faultOf(() => decodeCloudEvents({ headers: {}, rawHeaders, body: Buffer.alloc(0) })),
    'BadRequest ce-id',
  )
})

t.test('what the SDK emits is read as it was meant', async (t) => {
  const sent = new SdkEvent({
    id: 'a b%c',
    source: 'https://example.com/x?y=1',
    type: 'com.example.test',
    subject: '/apis/x',
    time: '2026-03-01T08:05:00.000Z',
    datacontenttype: 'application/json',
    extension: 'value',
    data: { a: [1, 'ü'] },
  })
  for (const [mode, message] of [
    ['structured', HTTP.structured(sent)],
    ['binary', HTTP.binary(new SdkEvent({ ...sent.toJSON(), id: 'a' }))],
  ] as const) {
    const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
    const decoded = decode(headers, Buffer.from(String(message.body)))
    t.equal(decoded.mode, mode)
    t.match(decoded.events, [
      {
        source: 'https://example.com/x?y=1',
        type: 'com.example.test',
        subject: '/apis/x',
        time: '2026-03-01T08:05:00.000Z',
        data: { kind: 'json', value: { a: [1, 'ü'] } },
      },
    ])
    t.equal(decoded.events[0]?.extensions.get('extension'), 'value')
  }
})

t.test('where the SDK is wrong, the specification is followed', async (t) => {
  const body = { ...EVENT, data: {} }
  const { id: _id, ...withoutId } = body
  const accepts = (headers: Record<string, string>, event: unknown) =>
    t.equal(
      faultOf(() => decode(headers, event)),
      'none',
      JSON.stringify(headers),
    )
  accepts({ 'content-type': 'application/cloudevents+json; charset=UTF-8' }, body)
  accepts({ 'content-type': 'Application/CloudEvents+JSON' }, body)
  t.equal(
    faultOf(() => decode(STRUCTURED, withoutId)),
    'BadRequest id',
  )
  t.equal(
    faultOf(() => decode(STRUCTURED, { ...body, specversion: '2.0' })),
    'BadRequest specversion',
  )
  t.equal(
    faultOf(() => decode(STRUCTURED, { ...body, time: 'yesterday' })),
    'BadRequest time',
  )
  t.equal(decodeOne(STRUCTURED, body).time, undefined, 'a time is not invented')
})
