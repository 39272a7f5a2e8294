import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { describeMultiClusterAnnotations } from '../../src/domain/balancer-annotations/describe-multi-cluster-annotations.ts'
import { MULTI_CLUSTER_ANNOTATIONS } from '../../src/domain/balancer-annotations/multi-cluster-annotations.ts'
import type { MultiClusterKind } from '../../src/domain/balancer-annotations/multi-cluster-options.ts'
import { ANNOTATION_PREFIX } from '../../src/domain/balancer-annotations/parse-annotations.ts'
import { parseMultiClusterOptions } from '../../src/domain/balancer-annotations/parse-multi-cluster-options.ts'
import { listenerSettings } from '../../src/domain/listening/listener-settings.ts'
import { routeSettings } from '../../src/domain/routing/route-settings.ts'
import { validateRoutes } from '../../src/domain/routing/validate-routes.ts'
import { buildIngress, buildService } from '../support/build-objects.ts'

const annotate = (short: Record<string, string>) => ({
  metadata: {
    annotations: Object.fromEntries(Object.entries(short).map(([key, text]) => [ANNOTATION_PREFIX + key, text])),
  },
})
const parsed = (short: Record<string, string>, kind?: MultiClusterKind) =>
  kind === 'MultiClusterService'
    ? parseMultiClusterOptions(buildService(annotate(short)), kind)
    : parseMultiClusterOptions(buildIngress(annotate(short)), 'MultiClusterIngress')

/** A good value, what it is read as, and bad ones, of every annotation. */
const VALUES: Record<string, [good: string, read: unknown, ...bad: string[]]> = {
  'cluster-weights': [
    'member1=3, member2=0',
    { member1: 3, member2: 0 },
    'member1',
    'member1=',
    '=1',
    'member1=257',
    'member1=-1',
    'member1=1.5',
    'member1=1,member1=2',
    'member1=1,',
    'Member1=1',
    'member1=1=2',
    '__proto__=1',
  ],
  'backend-protocol': ['h2c', 'h2c', 'grpc', 'HTTP'],
  'redirect-http-to-https': ['true', true, 'yes', '308'],
  'redirect-status': ['307', '307', '200', '3070'],
  'rewrite-target': [
    '/v2/caf%C3%A9',
    '/v2/caf%C3%A9',
    'v2',
    '/a b',
    '/a%',
    '/a?b',
    '/$1',
    '/{uri}',
    '/../a',
    '/a/.',
    '/"',
    "/'",
    '/a#b',
  ],
  'request-headers': [
    'X-One: a: b\n\nX-Two:\n',
    { 'X-One': 'a: b', 'X-Two': '' },
    'X-One',
    ': a',
    'X One: a',
    'X-One: a\nx-one: b',
    'Host: a',
    'transfer-encoding: chunked',
    'X-One: "a"',
    'X-One: a\\b',
    'X-One: {a}',
    'X-One: %[src]',
    'X-One: $HOME',
    'X-One: `a`',
    'X-One: caf\u00e9',
    'X-One: a\rb',
    'X-One: a\u0000',
    `X-One: ${'a'.repeat(1025)}`,
    Array.from({ length: 33 }, (_, index) => `X-${index}: a`).join('\n'),
  ],
  'response-headers': [
    "Content-Security-Policy: default-src 'self'; img-src *",
    { 'Content-Security-Policy': "default-src 'self'; img-src *" },
    'Content-Length: 1',
  ],
  'request-body-limit': ['8m', 8_388_608, '8M', '8mb', '-1', '17g', '99999999999g', 'm', '1.5m'],
  'health-check-protocol': ['https', 'https', 'udp'],
  'health-check-port': ['8080', 8080, '0', '65536', 'http', '080 '.repeat(2)],
  'health-check-path': ['/live?full=1', '/live?full=1', 'live', '/a b', '/a?b?c', '/a\nb', '/%zz', '/a"', '/a%[src]'],
  'health-check-interval': ['10', 10, '0', '301', '1s'],
  'health-check-timeout': ['2', 2, '0', '301'],
  'healthy-threshold': ['1', 1, '0', '11'],
  'unhealthy-threshold': ['10', 10, '0', '11'],
  'passive-failures': ['0', 0, '-1', '1001'],
  'passive-seconds': ['30', 30, '0', '3601'],
  'connect-timeout': ['1', 1, '0', '301'],
  'response-timeout': ['3600', 3600, '0', '3601'],
  'idle-timeout': ['4000', 4000, '0', '4001'],
  affinity: ['source-ip', 'source-ip', 'ClientIP'],
  'affinity-seconds': ['60', 60, '0', '86401'],
  algorithm: ['least-connections', 'least-connections', 'leastconn'],
  'proxy-protocol': ['v2', 'v2', 'v3', 'true'],
  'accept-proxy-protocol': ['true', true, 'v1'],
  'source-ranges': [
    '198.51.100.0/24, 2001:db8::/32',
    ['198.51.100.0/24', '2001:db8::/32'],
    '198.51.100.0',
    '198.51.100.0/33',
    '198.51.100.0/24,',
    '198.51.100.0/24,198.51.100.0/24',
    '198.51.100.0/24 deny',
    Array.from({ length: 257 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`).join(),
  ],
  'address-pool': ['edge.b_1', 'edge.b_1', '', 'a b', '-a', 'a/b'],
  'static-ip': [
    '198.51.100.7, 2001:db8::7',
    ['198.51.100.7', '2001:db8::7'],
    '198.51.100',
    '198.51.100.07',
    'lb.example.com',
    '1.1.1.1,1.1.1.2,::1',
  ],
  'ip-families': ['IPv6', ['IPv6'], 'ipv6', 'IPv4,IPv4', 'IPv4,IPv6,IPv4', ''],
  hostname: ['lb.example.com', 'lb.example.com', 'LB.example.com', '198.51.100.7', 'a_b.com', `${'a'.repeat(64)}.com`],
}
/** What some need beside them. */
const BESIDE: Record<string, Record<string, string>> = { 'redirect-status': { 'redirect-http-to-https': 'true' } }

t.test('each annotation', async (t) => {
  t.strictSame(Object.keys(VALUES), Object.keys(MULTI_CLUSTER_ANNOTATIONS))
  for (const [short, { option, kinds }] of Object.entries(MULTI_CLUSTER_ANNOTATIONS)) {
    const [good = '', read, ...bad] = VALUES[short] ?? []
    const [kind] = kinds
    const { options, findings } = parsed({ ...BESIDE[short], [short]: ` ${good} ` }, kind)
    t.strictSame([options[option], findings], [read, []], short)
    for (const text of bad) {
      const { options, findings } = parsed({ ...BESIDE[short], [short]: text }, kind)
      const [finding] = findings
      t.notOk(Object.hasOwn(options, option), `${short}: ${text}`)
      t.equal(finding?.field, `metadata.annotations[${ANNOTATION_PREFIX}${short}]`)
      t.ok(finding?.message.startsWith(`Invalid value: ${JSON.stringify(text)}: `), `${short}: ${finding?.message}`)
    }
    for (const other of ['MultiClusterIngress', 'MultiClusterService'] as const) {
      if (kinds.includes(other)) continue
      const misplaced = parsed({ [short]: good }, other).findings.map(({ reason, message }) => `${reason} ${message}`)
      t.ok(misplaced.includes(`FieldValueForbidden Forbidden: has no meaning for a ${other}`), short)
    }
  }
})

t.test('faults of spelling, and between annotations', async (t) => {
  const rows: [Record<string, string>, string[], MultiClusterKind?][] = [
    [
      { 'cluster-weight': 'a=1' },
      [`Unsupported value: "${ANNOTATION_PREFIX}cluster-weight": no such annotation; check the spelling`],
    ],
    [
      { 'node-selector': 'a=b' },
      [`Unsupported value: "${ANNOTATION_PREFIX}node-selector": no such annotation; check the spelling`],
    ],
    [
      { constructor: '1' },
      [`Unsupported value: "${ANNOTATION_PREFIX}constructor": no such annotation; check the spelling`],
    ],
    [{ 'health-check-timeout': '6' }, ['Invalid value: "6": must not exceed the interval (5)']],
    [{ 'health-check-timeout': '6', 'health-check-interval': '6' }, []],
    [
      { 'health-check-path': '/', 'health-check-protocol': 'tcp' },
      ['Invalid value: "/": has no use with protocol tcp'],
    ],
    [{ 'redirect-status': '301' }, ['Invalid value: "301": has no use without redirect-http-to-https']],
    [
      { affinity: 'cookie' },
      ['Invalid value: "cookie": must be none or source-ip: cookies are of layer 7'],
      'MultiClusterService',
    ],
    [{ affinity: 'cookie' }, []],
    [
      { 'static-ip': '192.0.2.1,192.0.2.2' },
      ['Invalid value: "192.0.2.1,192.0.2.2": must not be two addresses of one family'],
    ],
    [{ 'static-ip': '::1', 'ip-families': 'IPv4' }, ['Invalid value: "::1": IPv6 is not in ip-families']],
  ]
  for (const [short, expected, kind] of rows) {
    t.strictSame(
      parsed(short, kind).findings.map(({ message }) => message),
      expected,
      JSON.stringify(short),
    )
  }
  const foreign = buildIngress({ metadata: { annotations: { 'example.com/cluster-weight': 'a' } } })
  t.strictSame(parseMultiClusterOptions(foreign, 'MultiClusterIngress'), { options: {}, findings: [] })
})

t.test('paths that no request can have', async (t) => {
  const backend = { service: { name: 'web', port: { number: 80 } } }
  const paths = ['/a', '/a|b', '/a b', ''].map((path) => ({ path, pathType: 'ImplementationSpecific', backend }))
  const ingress = buildIngress({ ...annotate({ affinity: 'no' }), spec: { rules: [{ http: { paths } }] } })
  t.strictSame(
    validateRoutes(ingress).map(({ field }) => field),
    [
      `metadata.annotations[${ANNOTATION_PREFIX}affinity]`,
      'spec.rules[0].http.paths[1].path',
      'spec.rules[0].http.paths[2].path',
    ],
  )
})

t.test('defaults, and health checks', async (t) => {
  t.match(routeSettings({}).options, { tlsRedirect: 0, passiveFailures: 3, affinity: 'none', requestBodyLimit: 0 })
  t.notOk('healthCheck' in routeSettings({}).options)
  t.equal(routeSettings({ redirectHttpToHttps: true }).options.tlsRedirect, 308)
  t.equal(routeSettings({ redirectHttpToHttps: true, redirectStatus: '302' }).options.tlsRedirect, 302)
  t.match(listenerSettings({ affinity: 'source-ip', sourceRanges: ['b', 'a'] }).options, {
    affinity: 'source-ip',
    affinitySeconds: 10_800,
    sourceRanges: ['a', 'b'],
    idleTimeoutSeconds: 3_600,
  })
  const check = { path: '/', intervalSeconds: 5, timeoutSeconds: 3, healthyThreshold: 2, unhealthyThreshold: 3 }
  const rows: [Parameters<typeof routeSettings>[0], Record<string, unknown>][] = [
    [{ healthCheckPath: '/live' }, { ...check, protocol: 'http', path: '/live' }],
    [{ healthCheckPort: 81 }, { ...check, protocol: 'tcp', port: 81 }],
    [{ healthCheckIntervalSeconds: 1 }, { ...check, protocol: 'tcp', intervalSeconds: 1, timeoutSeconds: 1 }],
    [{ unhealthyThreshold: 1 }, { ...check, protocol: 'tcp', unhealthyThreshold: 1 }],
  ]
  for (const [asked, expected] of rows) {
    t.strictSame(routeSettings(asked).options.healthCheck, expected)
    t.strictSame(listenerSettings(asked).options.healthCheck, expected)
  }
})

/** What ends a word, a line or a text in the configuration of HAProxy, or begins a placeholder in that of Caddy. */
const BREAKS_OUT = /[\p{Cc}"\\`${}]|%(?![0-9A-Fa-f]{2})/u

t.test('no value that is accepted breaks out of a configuration', async () => {
  const shorts = fc.constantFrom(...Object.keys(MULTI_CLUSTER_ANNOTATIONS))
  const goods = Object.values(VALUES).map(([good]) => good)
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .tuple(
        fc.constantFrom(...goods),
        fc.nat(40),
        fc.string({ unit: 'grapheme-ascii', maxLength: 4 }),
        fc.constantFrom('', '\n', '\0', '"', '{', '%['),
      )
      .map(([good, at, more, hostile]) => good.slice(0, at) + hostile + more + good.slice(at)),
  )
  fc.assert(
    fc.property(shorts, texts, (short, text) => {
      const [kind] = MULTI_CLUSTER_ANNOTATIONS[short]?.kinds ?? []
      const { options } = parsed({ ...BESIDE[short], [short]: text }, kind)
      const leaves: unknown[] = []
      JSON.stringify(options, (key, value) => {
        leaves.push(key, value)
        return value
      })
      return leaves.every((leaf) => typeof leaf !== 'string' || !BREAKS_OUT.test(leaf))
    }),
    { numRuns: 2_000 },
  )
})

t.test('the page of annotations is written from the table', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/balancer-annotations.md'), 'utf8')
  t.ok(page.includes(`\n${describeMultiClusterAnnotations()}\n`), describeMultiClusterAnnotations())
})
