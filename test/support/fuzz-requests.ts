import fc from 'fast-check'
import type { Fixture, FixtureRequest } from '../../src/cli/fixture.ts'

type Json = unknown
type JsonText = { json: Json } | { text: string }

/**
 * Requests for every door, from nearly right to nonsense: bodies of the fixtures with parts replaced, removed, doubled,
 * nested deep or blown up, cut off or garbled, forbidden keys; headers and media types that fit, nearly fit or do not.
 */
export function fuzzRequests(fixtures: Iterable<Fixture>): fc.Arbitrary<FixtureRequest> {
  const requests = [...fixtures].map(({ request }) => request).filter(({ body }) => body.length < 20_000)
  const reviews = bodiesOf(requests, '/admission/')
  const events = bodiesOf(requests, '/events')
  return fc.oneof(
    { weight: 6, arbitrary: request(admissionPath, headersLike('application/json'), bodyLike(reviews)) },
    { weight: 3, arbitrary: request(eventsPath, headersLike('application/cloudevents+json'), bodyLike(events)) },
    { weight: 2, arbitrary: request(eventsPath, headersLike('application/cloudevents-batch+json'), batchOf(events)) },
    { weight: 3, arbitrary: request(eventsPath, binaryHeaders, bodyLike(reviews)) },
    { weight: 1, arbitrary: request(anyPath, anyHeaders, bodyLike([...reviews, ...events]), anyMethod) },
    { weight: 1, arbitrary: request(sweepPath, anyHeaders, fc.constant(Buffer.alloc(0))) },
    {
      weight: 1,
      arbitrary: request(eventsPath, handshakeHeaders, fc.constant(Buffer.alloc(0)), fc.constant('OPTIONS')),
    },
  )
}

function bodiesOf(requests: FixtureRequest[], prefix: string): Json[] {
  return requests.flatMap(({ path, body }) => {
    if (!path.startsWith(prefix)) return []
    try {
      return [JSON.parse(body.toString())]
    } catch {
      return []
    }
  })
}

function request(
  path: fc.Arbitrary<string>,
  headers: fc.Arbitrary<Record<string, string>>,
  body: fc.Arbitrary<Buffer>,
  method: fc.Arbitrary<string> = fc.constant('POST'),
): fc.Arbitrary<FixtureRequest> {
  return fc.record({ method, path, headers, body })
}

// Paths and methods

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc.constantFrom('?timeout=3s', '?timeout=x', '?', '?a[b]=c&a=d', '?__proto__=1', '?%zz'),
  fc.string().map((text) => `?x=${encodeURIComponent(text.toWellFormed())}`),
)
const withQuery = (path: fc.Arbitrary<string>) => fc.tuple(path, query).map(([text, rest]) => `${text}${rest}`)
const admissionPath = withQuery(fc.constantFrom('/admission/mutate', '/admission/validate', '/admission/notify'))
const eventsPath = withQuery(fc.constant('/events'))
const sweepPath = fc.oneof(
  withQuery(fc.constant('/sweep')),
  fc.tuple(fc.constantFrom('all', 'pending', 'x', ''), fc.string()).map(([scope, token]) => {
    return `/sweep?scope=${scope}&continue=${encodeURIComponent(token.toWellFormed())}`
  }),
)
const anyPath = withQuery(
  fc.oneof(
    fc.constantFrom('/healthz', '/readyz', '/metrics', '/events', '/sweep', '/admission/notify'),
    fc.constantFrom('/', '/%zz', '/admission', '/events/', '/__proto__', '/constructor'),
    // As a client sends it: dot segments resolved.
    fc.webPath().map((path) => new URL(`http://localhost${path}`).pathname),
  ),
)
const anyMethod = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'HEAD', 'PROPFIND')

// Headers

/** What Node hands over for any bytes of a header: one character a byte, no control characters. */
const headerValue = fc
  .array(fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }), fc.constant(0x25)), {
    maxLength: 24,
  })
  .map((bytes) => String.fromCharCode(...bytes).trim())

const mediaType = fc.constantFrom(
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON;charset="UTF-8"',
  'application/json; charset=utf-16',
  'application/json;',
  'application/json; charset',
  'application/cloudevents+json',
  'application/cloudevents+json; charset=UTF-8',
  'Application/CloudEvents-Batch+JSON',
  'application/cloudevents',
  'application/cloudevents+avro',
  'application/vnd.x+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'garbage',
  '',
)

const rareHeaders = fc.oneof(
  { weight: 8, arbitrary: fc.constant({}) },
  fc.record({ 'content-encoding': fc.constantFrom('gzip', 'identity', 'br', '') }),
  fc.record({ 'content-type': fc.oneof(mediaType, headerValue) }),
  fc.record({ 'ce-id': headerValue }),
)

function headersLike(contentType: string): fc.Arbitrary<Record<string, string>> {
  return rareHeaders.map((rare) => ({ 'content-type': contentType, ...rare }))
}

const anyHeaders = fc.oneof(
  fc.record({ 'content-type': fc.oneof(mediaType, headerValue) }),
  fc.constant({}),
) as fc.Arbitrary<Record<string, string>>

const eventType = fc.constantFrom(
  'dev.knative.apiserver.resource.add',
  'dev.knative.apiserver.resource.update',
  'dev.knative.apiserver.resource.delete',
  'dev.knative.apiserver.ref.update',
  'dev.knative.sources.ping',
  'dev.webhook-cloud-provider.work.v1',
  'com.example.other',
)

const attribute = (value: fc.Arbitrary<string>) => fc.oneof({ weight: 6, arbitrary: value }, headerValue)

const binaryHeaders = fc
  .tuple(
    fc.record(
      {
        'content-type': fc.oneof({ weight: 5, arbitrary: fc.constant('application/json') }, mediaType),
        'ce-specversion': attribute(fc.constant('1.0')),
        'ce-id': attribute(fc.constant('1')),
        'ce-source': attribute(fc.constant('/source')),
        'ce-type': attribute(eventType),
      },
      { requiredKeys: ['ce-type'] },
    ),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          'ce-kind',
          'ce-apiversion',
          'ce-name',
          'ce-namespace',
          'ce-time',
          'ce-subject',
          'ce-dataschema',
        ),
        fc.constantFrom('ce-datacontenttype', 'ce-data', 'ce-', 'ce-a-b', 'ce-x', 'CE-X', 'ce-__proto__'),
      ),
      fc.oneof(
        headerValue,
        fc.constantFrom('MultiClusterIngress', 'networking.karmada.io/v1alpha1', 'shop', 'web', '%C0%A0', '"', '"a\\"'),
      ),
      { maxKeys: 4 },
    ),
  )
  .map(([known, extra]) => ({ ...known, ...extra }) as Record<string, string>)

const handshakeHeaders = fc
  .record(
    {
      'webhook-request-origin': fc.oneof(fc.constant('example.net'), headerValue),
      'webhook-request-rate': fc.oneof(fc.constantFrom('1', '0', '-1', '1e9', '99999999999'), headerValue),
      'webhook-request-callback': headerValue,
    },
    { requiredKeys: [] },
  )
  .map((headers) => headers as Record<string, string>)

// Bodies

function bodyLike(seeds: Json[]): fc.Arbitrary<Buffer> {
  return fc.tuple(fc.oneof({ weight: 8, arbitrary: edited(seeds) }, anyText), damage).map(([body, spoil]) => {
    return spoil(Buffer.from('text' in body ? body.text : (JSON.stringify(body.json) ?? '')))
  })
}

function batchOf(seeds: Json[]): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.array(edited(seeds), { maxLength: 4 }), damage)
    .map(([events, spoil]) => spoil(Buffer.from(JSON.stringify(events.map(({ json }) => json ?? null)))))
}

/** A value that stands where another was expected. */
const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, 0, -1, 1.5, 1e300, '', 'x', [], {}, [null], { a: null }),
  fc.constantFrom('a/b', '..', '__proto__', 'x'.repeat(300), 'lone \ud800', 'nul \u0000', '\u2028', '%'),
  fc.constantFrom({ constructor: 1 }, { hasOwnProperty: 1, toString: null }, { length: -1 }, { includes: 1 }),
  fc.integer({ min: 1, max: 60_000 }).map((length) => 'é'.repeat(length)),
  fc.integer({ min: 1, max: 400 }).map((depth) => nested(depth)),
  fc.jsonValue({ maxDepth: 4 }),
)

interface Edit {
  /** Which place, counted over all places of the seed. */
  at: number
  change: { set: Json } | 'remove' | 'double'
}

function edited(seeds: Json[]): fc.Arbitrary<{ json: Json }> {
  const edits = fc.array(
    fc.record({
      at: fc.nat(400),
      change: fc.oneof(
        { weight: 4, arbitrary: strange.map((value) => ({ set: value })) },
        fc.constantFrom<Edit['change']>('remove', 'double'),
      ),
    }),
    { maxLength: 3 },
  )
  return fc.tuple(fc.nat(Math.max(0, seeds.length - 1)), edits).map(([index, changes]) => {
    const root = { json: structuredClone(seeds[index]) }
    for (const edit of changes) apply(root, edit)
    return root
  })
}

function apply(root: { json: Json }, { at, change }: Edit): void {
  const places = [...placesIn(root)]
  const [parent, name] = places[at % places.length] ?? [root, 'json']
  if (change === 'remove') Reflect.deleteProperty(parent, name)
  else if (change === 'double') Reflect.set(parent, `${name}2`, structuredClone(Reflect.get(parent, name)))
  else Reflect.set(parent, name, structuredClone(change.set))
}

function* placesIn(node: object): Generator<[object, string]> {
  for (const [name, child] of Object.entries(node)) {
    yield [node, name]
    if (typeof child === 'object' && child !== null) yield* placesIn(child)
  }
}

function nested(depth: number): Json {
  let value: Json = 'x'
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const anyText: fc.Arbitrary<JsonText> = fc.oneof(
  fc.json({ maxDepth: 6 }).map((text) => ({ text })),
  fc.string({ unit: 'binary' }).map((text) => ({ text })),
  fc.nat(100_000).map((depth) => ({ text: '['.repeat(depth) })),
  fc.nat(5_000).map((depth) => ({ text: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}` })),
)

/** What happens to a body on its way. */
const damage: fc.Arbitrary<(body: Buffer) => Buffer> = fc.oneof(
  { weight: 20, arbitrary: fc.constant((body: Buffer) => body) },
  fc.nat().map((at) => (body: Buffer) => body.subarray(0, at % (body.length + 1))),
  fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => (body: Buffer) => {
    const garbled = Buffer.from(body)
    if (garbled.length > 0) garbled[at % garbled.length] = byte
    return garbled
  }),
  fc
    .constantFrom('"__proto__":{"x":1}', '"constructor":{"prototype":{}}', '"\\u005f_proto__":null')
    .map((forbidden) => {
      return (body: Buffer) => Buffer.from(body.toString().replace(/\{(?=")/, `{${forbidden},`))
    }),
  fc.constant((body: Buffer) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body])),
)
