import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { Finding } from '../../src/domain/finding.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import { goQuote } from '../../src/domain/validation/go-quote.ts'
import { isIpAddress } from '../../src/domain/validation/is-ip-address.ts'
import { multiClusterIngressSchema } from '../../src/domain/validation/multi-cluster-ingress-schema.ts'
import { multiClusterServiceSchema } from '../../src/domain/validation/multi-cluster-service-schema.ts'
import { validateMultiClusterIngress } from '../../src/domain/validation/validate-multi-cluster-ingress.ts'
import { validateMultiClusterService } from '../../src/domain/validation/validate-multi-cluster-service.ts'

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const WILDCARD =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const LABEL_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const LABEL_1123 =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"

/** Typed as it comes from the API: by nobody. */
type Loose = Record<string, unknown>

const service = (name: unknown = 'web', port: unknown = { number: 80 }) => ({ service: { name, port } })
const path = (over: Loose = {}) => ({ path: '/', pathType: 'Prefix', backend: service(), ...over })
const ingress = (spec: unknown, over: Loose = {}): MultiClusterIngress =>
  ({
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterIngress',
    metadata: { name: 'storefront', namespace: 'shop' },
    spec,
    ...over,
  }) as unknown as MultiClusterIngress
const ingressWith = (spec: Loose, over: Loose = {}) => ingress({ defaultBackend: service(), ...spec }, over)
const ingressOf = (...paths: unknown[]) => ingress({ rules: [{ http: { paths } }] })
const multiClusterService = (spec: unknown, over: Loose = {}): MultiClusterService =>
  ({
    apiVersion: 'networking.karmada.io/v1alpha1',
    kind: 'MultiClusterService',
    metadata: { name: 'game-gw', namespace: 'shop' },
    spec,
    ...over,
  }) as unknown as MultiClusterService
const balanced = (spec: Loose = {}, over: Loose = {}) => multiClusterService({ types: ['LoadBalancer'], ...spec }, over)

const lines = (findings: readonly Finding[]) => findings.map(({ field, message }) => `${field}: ${message}`)

/** The findings as a Kubernetes error list joins them. */
const joined = (findings: readonly Finding[]) => {
  const all = lines(findings)
  return all.length > 1 ? `[${all.join(', ')}]` : all.join('')
}

t.test('MultiClusterIngress: the rules of its spec', async (t) => {
  const cases: [string, MultiClusterIngress, string[]][] = [
    ['a good one', ingressOf(path()), []],
    ['a default backend alone', ingressWith({}), []],
    [
      'no spec',
      ingress(undefined),
      ['spec: Invalid value: []v1.IngressRule(nil): either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'rules null',
      ingress({ rules: null }),
      ['spec: Invalid value: []v1.IngressRule(nil): either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'rules empty',
      ingress({ rules: [] }),
      ['spec: Invalid value: []v1.IngressRule{}: either `defaultBackend` or `rules` must be specified'],
    ],
    [
      'both backends',
      ingressWith({ defaultBackend: { ...service(), resource: { kind: 'Bucket', name: 'b' } } }),
      ['spec.defaultBackend: Invalid value: "": cannot set both resource and service backends'],
    ],
    [
      'no backend',
      ingressOf(path({ backend: undefined })),
      ['spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required'],
    ],
    ['a rule that is null routes nothing', ingress({ rules: [null] }), []],
    ['a rule without http', ingress({ rules: [{ host: 'a.example.com' }] }), []],
    ['an empty host', ingress({ rules: [{ host: '' }] }), []],
    ['http without paths', ingress({ rules: [{ http: {} }] }), ['spec.rules[0].http.paths: Required value']],
    ['http with no path', ingress({ rules: [{ http: { paths: [] } }] }), ['spec.rules[0].http.paths: Required value']],
    [
      'a wildcard rule is checked whole',
      ingress({ rules: [{ host: '*.example.com', http: {} }] }),
      ['spec.rules[0].http.paths: Required value'],
    ],
    [
      'an IPv4 host',
      ingress({ rules: [{ host: '203.0.113.9' }] }),
      ['spec.rules[0].host: Invalid value: "203.0.113.9": must be a DNS name, not an IP address'],
    ],
    [
      'an IPv6 host is no name either',
      ingress({ rules: [{ host: '2001:db8::1' }] }),
      [
        'spec.rules[0].host: Invalid value: "2001:db8::1": must be a DNS name, not an IP address',
        `spec.rules[0].host: Invalid value: "2001:db8::1": ${SUBDOMAIN}`,
      ],
    ],
    [
      'two stars',
      ingress({ rules: [{ host: '*.*.example.com' }] }),
      [`spec.rules[0].host: Invalid value: "*.*.example.com": ${WILDCARD}`],
    ],
    [
      'a star in the middle',
      ingress({ rules: [{ host: 'a.*.com' }] }),
      [`spec.rules[0].host: Invalid value: "a.*.com": ${WILDCARD}`],
    ],
    [
      'a wildcard that is too long',
      ingress({ rules: [{ host: `*.${'a.'.repeat(126)}` }] }),
      [
        `spec.rules[0].host: Invalid value: "*.${'a.'.repeat(126)}": must be no more than 253 characters`,
        `spec.rules[0].host: Invalid value: "*.${'a.'.repeat(126)}": ${WILDCARD}`,
      ],
    ],
    [
      'no path type',
      ingressOf({ backend: {} }),
      ['spec.rules[0].http.paths[0].pathType: Required value: pathType must be specified'],
    ],
    [
      'a path type that nobody knows',
      ingressOf(path({ pathType: 'Regex' })),
      [
        'spec.rules[0].http.paths[0].pathType: Unsupported value: "Regex": supported values: "Exact", "ImplementationSpecific", "Prefix"',
      ],
    ],
    [
      'no path where one is needed',
      ingressOf(path({ path: undefined, pathType: 'Exact' })),
      ['spec.rules[0].http.paths[0].path: Invalid value: "": must be an absolute path'],
    ],
    ['no path where none is needed', ingressOf(path({ path: undefined, pathType: 'ImplementationSpecific' })), []],
    ['anything absolute is specific', ingressOf(path({ path: '//..', pathType: 'ImplementationSpecific' })), []],
    [
      'relative',
      ingressOf(path({ path: 'a', pathType: 'ImplementationSpecific' })),
      ['spec.rules[0].http.paths[0].path: Invalid value: "a": must be an absolute path'],
    ],
    [
      'each sequence',
      ingressOf(path({ path: '//a/./b/../c%2fd%2F' })),
      [
        ...['//', '/./', '/../', '%2f', '%2F'].map(
          (text) =>
            `spec.rules[0].http.paths[0].path: Invalid value: "//a/./b/../c%2fd%2F": must not contain '${text}'`,
        ),
      ],
    ],
    [
      'up at the end',
      ingressOf(path({ path: '/a/..' })),
      ['spec.rules[0].http.paths[0].path: Invalid value: "/a/..": cannot end with \'/..\''],
    ],
    [
      'dot at the end',
      ingressOf(path({ path: '/a/.' })),
      ['spec.rules[0].http.paths[0].path: Invalid value: "/a/.": cannot end with \'/.\''],
    ],
    ['TLS', ingressWith({ tls: [{}, { hosts: ['a.example.com', '*.example.com'], secretName: '' }] }), []],
    [
      'TLS with an empty host',
      ingressWith({ tls: [{ hosts: ['', '*'], secretName: 'Bad_Secret' }] }),
      [
        `spec.tls[0].hosts[0]: Invalid value: "": ${SUBDOMAIN}`,
        `spec.tls[0].hosts[1]: Invalid value: "*": ${WILDCARD}`,
        `spec.tls[0].secretName: Invalid value: "Bad_Secret": ${SUBDOMAIN}`,
      ],
    ],
    [
      'an empty class is none',
      ingressWith({ ingressClassName: '' }),
      [`spec.ingressClassName: Invalid value: "": ${SUBDOMAIN}`],
    ],
  ]
  for (const [name, object, expected] of cases) t.same(lines(validateMultiClusterIngress(object)), expected, name)
})

t.test('MultiClusterIngress: the rules of a backend', async (t) => {
  const cases: [string, unknown, string[]][] = [
    ['a port by name', service('web', { name: 'http' }), []],
    ['no name', service('', { number: 80 }), ['.service.name: Required value']],
    ['a name that starts with a digit', service('7web'), [`.service.name: Invalid value: "7web": ${LABEL_1035}`]],
    [
      'a name that is too long',
      service('w'.repeat(64)),
      [`.service.name: Invalid value: "${'w'.repeat(64)}": must be no more than 63 characters`],
    ],
    ['no port', service('web', null), [': Required value: port name or number is required']],
    ['port 0 is no port', service('web', { number: 0 }), [': Required value: port name or number is required']],
    [
      'a port by both',
      service('web', { name: 'http', number: 80 }),
      [': Invalid value: "": cannot set both port name & port number'],
    ],
    [
      'a port below',
      service('web', { number: -1 }),
      ['.service.port.number: Invalid value: -1: must be between 1 and 65535, inclusive'],
    ],
    [
      'a port above',
      service('web', { number: 65536 }),
      ['.service.port.number: Invalid value: 65536: must be between 1 and 65535, inclusive'],
    ],
    ['the last port', service('web', { number: 65535 }), []],
    [
      'each fault of a port name',
      service('web', { name: '--Ä4-----------' }),
      [
        ...[
          'must be no more than 15 characters',
          'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
          'must contain at least one letter (a-z)',
          'must not contain consecutive hyphens',
          'must not begin or end with a hyphen',
        ].map((fault) => `.service.port.name: Invalid value: "--Ä4-----------": ${fault}`),
      ],
    ],
    ['a resource of the core group', { resource: { kind: 'Bucket', name: 'assets' } }, []],
    ['a resource of a group', { resource: { apiGroup: 'k8s.example.com', kind: 'Bucket', name: 'assets' } }, []],
    [
      'a resource of nothing',
      { resource: {} },
      ['.resource.kind: Required value: kind is required', '.resource.name: Required value: name is required'],
    ],
    [
      'a resource that no URL can name',
      { resource: { apiGroup: '', kind: 'a/b%', name: '..' } },
      [
        `.resource.apiGroup: Invalid value: "": ${SUBDOMAIN}`,
        '.resource.kind: Invalid value: "a/b%": may not contain \'/\'',
        '.resource.kind: Invalid value: "a/b%": may not contain \'%\'',
        '.resource.name: Invalid value: "..": may not be \'..\'',
      ],
    ],
    ['a dot', { resource: { kind: '.', name: '...' } }, ['.resource.kind: Invalid value: ".": may not be \'.\'']],
  ]
  for (const [name, backend, expected] of cases)
    t.same(
      lines(validateMultiClusterIngress(ingress({ defaultBackend: backend }))),
      expected.map((rest) => `spec.defaultBackend${rest}`),
      name,
    )
})

t.test('MultiClusterService: the rules of its spec', async (t) => {
  const long = 'c'.repeat(49)
  const cases: [string, MultiClusterService, string[]][] = [
    ['a good one', balanced({ ports: [{ port: 1 }, { name: 'a', port: 65535 }, { name: '1', port: 7 }] }), []],
    ['no spec is for the schema', multiClusterService(undefined), []],
    ['no type', multiClusterService({ types: [] }), []],
    ['the same type twice', multiClusterService({ types: ['CrossCluster', 'CrossCluster'] }), []],
    [
      'an unknown type',
      multiClusterService({ types: [null, 'NodePort"'] }),
      [
        'spec.types[0]: Invalid value: "": ExposureType Error',
        'spec.types[1]: Invalid value: "NodePort\\"": ExposureType Error',
        'spec.types: Invalid value: []v1alpha1.ExposureType{"", "NodePort\\""}: MultiClusterService types should not contain more than one type',
      ],
    ],
    [
      'both types',
      multiClusterService({ types: ['LoadBalancer', 'CrossCluster'] }),
      [
        'spec.types: Invalid value: []v1alpha1.ExposureType{"LoadBalancer", "CrossCluster"}: MultiClusterService types should not contain more than one type',
      ],
    ],
    [
      'no port number',
      balanced({ ports: [{}] }),
      ['spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive'],
    ],
    [
      'a port number above',
      balanced({ ports: [{ port: 65536 }] }),
      ['spec.ports[0].port: Invalid value: 65536: must be between 1 and 65535, inclusive'],
    ],
    [
      'port names',
      balanced({ ports: ['A', 'a.b', 'A', '.', 'ü'.repeat(32)].map((name) => ({ name, port: 1 })) }),
      [
        `spec.ports[0].name: Invalid value: "A": ${LABEL_1123}`,
        'spec.ports[1].name: Invalid value: "a.b": must not contain dots',
        `spec.ports[2].name: Invalid value: "A": ${LABEL_1123}`,
        'spec.ports[2].name: Duplicate value: "A"',
        `spec.ports[3].name: Invalid value: ".": ${LABEL_1123}`,
        `spec.ports[4].name: Invalid value: "${'ü'.repeat(32)}": must be no more than 63 characters`,
        `spec.ports[4].name: Invalid value: "${'ü'.repeat(32)}": ${LABEL_1123}`,
      ],
    ],
    [
      'cluster names',
      balanced({ providerClusters: [{ name: 'c'.repeat(48) }, { name: long }, {}] }),
      [
        `spec.range.providerClusters[1]: Invalid value: "${long}": must be no more than 48 characters`,
        'spec.range.providerClusters[2]: Invalid value: "": must be not empty',
      ],
    ],
    [
      'names of consumers',
      balanced({ consumerClusters: [{ name: 'A' }, { name: 'a.b' }] }),
      [
        `spec.range.consumerClusters[0]: Invalid value: "A": ${LABEL_1123}`,
        'spec.range.consumerClusters[1]: Invalid value: "a.b": must not contain dots',
      ],
    ],
  ]
  for (const [name, object, expected] of cases) t.same(lines(validateMultiClusterService(object)), expected, name)
})

t.test('names', async (t) => {
  const named = (metadata: unknown) => [
    lines(validateMultiClusterIngress(ingressWith({}, { metadata }))),
    lines(validateMultiClusterService(balanced({}, { metadata }))),
  ]
  t.same(named({ name: 'a' }), [[], []])
  t.same(named({ name: '7.a' }), [[], [`metadata.name: Invalid value: "7.a": ${LABEL_1035}`]], 'a Service has a label')
  t.same(named({ name: 'a'.repeat(254) }), [
    [`metadata.name: Invalid value: "${'a'.repeat(254)}": must be no more than 253 characters`],
    [`metadata.name: Invalid value: "${'a'.repeat(254)}": must be no more than 63 characters`],
  ])
  const none = ['metadata.name: Required value: name or generateName is required']
  t.same(named(undefined), [none, none])
  t.same(named({ generateName: '' }), [none, none])
  t.same(named({ generateName: 'game-gw-' }), [[], []], 'the name is made of it')
  t.same(named({ generateName: 'A', name: 'a' }), [
    [`metadata.generateName: Invalid value: "A": ${SUBDOMAIN}`],
    [`metadata.generateName: Invalid value: "A": ${LABEL_1035}`],
  ])
  t.same(named({ generateName: '-' })[0], [`metadata.generateName: Invalid value: "-": ${SUBDOMAIN}`], 'a dash alone')
})

t.test('updates', async (t) => {
  t.test('types are immutable, and the old ones are named', async (t) => {
    const change = (from: unknown, to: unknown) =>
      lines(validateMultiClusterService(multiClusterService({ types: to }), multiClusterService({ types: from })))
    const immutable = (list: string) => [
      `spec.types: Invalid value: []v1alpha1.ExposureType${list}: MultiClusterService types are immutable`,
    ]
    t.same(change(['LoadBalancer'], ['LoadBalancer']), [])
    t.same(change(['CrossCluster'], ['LoadBalancer']), immutable('{"CrossCluster"}'))
    t.same(change(['LoadBalancer'], ['LoadBalancer', 'LoadBalancer']), immutable('{"LoadBalancer"}'))
    t.same(change(undefined, []), immutable('(nil)'), 'none is not an empty list')
    t.same(change([], null), immutable('{}'))
    t.same(change([5], ['LoadBalancer']), [], 'what is no list of types is compared with none')
    t.same(change(['LoadBalancer'], 'LoadBalancer'), [])
    t.same(validateMultiClusterService(balanced(), multiClusterService(undefined)).length, 1)
  })

  t.test('finalizers stay as they are or go while the object is being deleted', async (t) => {
    const change = (deletionTimestamp: unknown, from: unknown, to: unknown) => {
      const next = { name: 'a', finalizers: to }
      const previous = { name: 'a', finalizers: from, deletionTimestamp }
      const ingresses = validateMultiClusterIngress(
        ingressWith({}, { metadata: next }),
        ingressWith({}, { metadata: previous }),
      )
      const services = validateMultiClusterService(
        balanced({}, { metadata: next }),
        balanced({}, { metadata: previous }),
      )
      t.same(services, ingresses)
      return lines(ingresses)
    }
    const at = '2026-03-02T10:00:00Z'
    t.same(change(undefined, [], ['a/b']), [])
    t.same(change(at, ['a/b', 'c/d'], ['a/b']), [])
    t.same(change(at, ['a/b'], undefined), [])
    t.same(change(at, ['a/b'], ['e/f', 'c/d', 'a/b', 'c/d', 5]), [
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c/d", "e/f"}',
    ])
  })

  t.test('a bad address in the stored status blocks them', async (t) => {
    const entries = [
      {},
      { ip: '203.0.113.9', hostname: 'lb.example.com' },
      { ip: 'lb', hostname: 'LB' },
      { hostname: '10.0.0.1' },
    ]
    const status = { loadBalancer: { ingress: entries } }
    const expected = [
      'status.loadBalancer.ingress[2].ip: Invalid value: "lb": must be a valid IP address',
      `status.loadBalancer.ingress[2].hostname: Invalid value: "LB": ${SUBDOMAIN}`,
      'status.loadBalancer.ingress[3].hostname: Invalid value: "10.0.0.1": must be a DNS name, not an IP address',
    ]
    t.same(lines(validateMultiClusterIngress(ingressWith({}, { status }), ingressWith({}))), expected)
    t.same(lines(validateMultiClusterService(balanced({}, { status }), balanced())), expected)
    t.same(validateMultiClusterIngress(ingressWith({}, { status })), [], 'not looked at on a creation')
    t.same(validateMultiClusterService(balanced({}, { status })), [])
  })
})

t.test('a finding says its reason as the API does', async (t) => {
  const reasons = (findings: readonly Finding[]) => findings.map(({ reason }) => reason)
  t.same(reasons(validateMultiClusterIngress(ingress({}))), ['FieldValueInvalid'])
  t.same(reasons(validateMultiClusterIngress(ingressOf({}))), ['FieldValueRequired'])
  t.same(reasons(validateMultiClusterIngress(ingressOf(path({ pathType: '' })))), ['FieldValueNotSupported'])
  const twice = balanced({ ports: [1, 2].map((port) => ({ name: 'a', port })) })
  t.same(reasons(validateMultiClusterService(twice)), ['FieldValueDuplicate'])
})

t.test('addresses', async (t) => {
  const good = [
    '1.2.3.4',
    '01.002.0003.4',
    '::',
    '::1',
    '1::',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
    '::ffff:1.2.3.4',
    '1:2:3:4:5:6:1.2.3.4',
    '2001:DB8::1',
    '00001::',
  ]
  const bad = [
    '',
    'a',
    '1',
    '1.2.3',
    '1.2.3.4.',
    '1.2.3.256',
    '1.2.3.4:80',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '1.2.3.4::',
    '1:2.3.4.5::',
    '12345::',
    'fe80::1%eth0',
    '::g',
  ]
  for (const text of good) t.ok(isIpAddress(text), text)
  for (const text of bad) t.notOk(isIpAddress(text), text)
})

t.test('texts are quoted as in Go', async (t) => {
  t.equal(goQuote('a "b" \\ é 😀'), '"a \\"b\\" \\\\ é 😀"')
  t.equal(goQuote('\u0007\b\t\n\v\f\r\u0000\u007f'), '"\\a\\b\\t\\n\\v\\f\\r\\x00\\x7f"')
  t.equal(goQuote('\u00a0\u200b\u{e0001}'), '"\\u00a0\\u200b\\U000e0001"')
  t.equal(goQuote('\ud800'), '"\ufffd"')
})

t.test('a text of megabytes is refused in no time, and on the stack there is', async (t) => {
  for (const text of ['a'.repeat(3e6), 'a.'.repeat(2e6), '-'.repeat(3e6), '1:'.repeat(2e6), '*.'.repeat(2e6)]) {
    const started = performance.now()
    t.ok(validateMultiClusterIngress(ingress({ rules: [{ host: text }], ingressClassName: text })).length > 0)
    t.ok(
      validateMultiClusterService(balanced({ providerClusters: [{ name: text }], ports: [{ name: text }] })).length > 0,
    )
    t.ok(performance.now() - started < 5000)
  }
})

t.test('nothing that is JSON makes it throw', async (t) => {
  const check = (next: unknown, previous: unknown) => {
    for (const findings of [
      validateMultiClusterIngress(next as MultiClusterIngress, previous as MultiClusterIngress),
      validateMultiClusterService(next as MultiClusterService, previous as MultiClusterService),
    ])
      for (const finding of findings) if (finding.field === '' || finding.message === '') return false
    return true
  }

  t.test('arbitrary JSON', async () => {
    const json = fc.oneof(
      fc.jsonValue(),
      fc.record({ metadata: fc.jsonValue(), spec: fc.jsonValue(), status: fc.jsonValue() }),
    )
    fc.assert(fc.property(json, fc.option(json, { nil: undefined }), check), { numRuns: 1000 })
  })

  t.test('good objects with one value replaced', async () => {
    const whole = {
      metadata: { name: 'a', generateName: 'a-', finalizers: ['a/b'], deletionTimestamp: '2026-03-02T10:00:00Z' },
      spec: {
        ingressClassName: 'multicloud',
        defaultBackend: service(),
        rules: [
          {
            host: 'a.example.com',
            http: { paths: [path(), path({ backend: { resource: { apiGroup: 'a', kind: 'B', name: 'c' } } })] },
          },
        ],
        tls: [{ hosts: ['a.example.com'], secretName: 's' }],
        types: ['LoadBalancer'],
        ports: [{ name: 'a', port: 80 }],
        providerClusters: [{ name: 'a' }],
        consumerClusters: [{ name: 'b' }],
      },
      status: { loadBalancer: { ingress: [{ ip: '203.0.113.9', hostname: 'lb.example.com' }] } },
    }
    const places = pathsOf(whole)
    const replacement = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(null, [], {}, '', 0, -1, 1.5, true, [null]),
    )
    const mutated = fc
      .tuple(fc.constantFrom(...places), replacement)
      .map(([place, value]) => replaced(whole, place, value))
    fc.assert(fc.property(mutated, mutated, check), { numRuns: 3000 })
    for (const place of places) {
      check(replaced(whole, place, 5), whole)
      check(whole, replaced(whole, place, 'x'))
    }
  })

  t.test('a value of the wrong type is left to the schema check', async (t) => {
    for (const wrong of ['x', 5, true, []])
      t.same(validateMultiClusterIngress(ingress(wrong)), [], JSON.stringify(wrong))
    t.same(validateMultiClusterIngress(ingress({ rules: 'x', tls: {} })), [])
    t.same(validateMultiClusterIngress(ingressOf(path({ path: 5, backend: service(5, { name: 5, number: 'x' }) }))), [])
    t.same(
      validateMultiClusterService(balanced({ types: [5], ports: [{ name: 5, port: 1.5 }], providerClusters: [5] })),
      [],
    )
  })
})

t.test('the schemas are plain data', async (t) => {
  for (const schema of [multiClusterIngressSchema, multiClusterServiceSchema]) {
    t.strictSame(JSON.parse(JSON.stringify(schema)), schema)
    t.same(Object.keys(schema.properties ?? {}), ['apiVersion', 'kind', 'metadata', 'spec', 'status'])
  }
})

interface Verdict {
  kind: string
  name: string
  webhook: string
}

interface Case {
  file: string
  after: string | null
  admission: Verdict[]
  admissionAfter: Verdict[]
}

const folder = join(import.meta.dirname, '../../../shared/cases/karmada')

t.test(
  "the corpus: what Karmada's own webhook says",
  { skip: existsSync(folder) ? false : `no ${folder}` },
  async (t) => {
    const cases: Case[] = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'))
    let compared = 0
    for (const { file, after, admission, admissionAfter } of cases) {
      for (const [name, verdicts] of [
        [file, admission],
        [after, admissionAfter],
      ] as const) {
        for (const { kind, name: objectName, webhook } of verdicts) {
          if (webhook === 'not reached') continue
          const next = find(name ?? '', kind, objectName)
          const previous = previousOf(webhook, next, () => find(file, kind, objectName))
          // The server names an object before any validating webhook sees it; these verdicts are on the nameless one.
          const findings = validate(kind, objectName.endsWith('*') ? withoutGenerateName(next) : next, previous)
          const verdict = findings.length === 0 ? 'ALLOWED' : `DENIED ${joined(findings)}`
          t.equal(verdict, webhook.replace(/^\(.*?\) /, ''), `${name} ${kind} ${objectName}`)
          if (objectName.endsWith('*')) t.same(validate(kind, next, previous), [], `${name} with its generateName`)
          compared += 1
        }
      }
    }
    t.ok(compared > 0)
    t.comment(`${compared} verdicts compared, in ${readdirSync(folder).length} files`)
  },
)

function find(file: string, kind: string, name: string): Loose {
  const objects = parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => document.toJS())
  const object = objects.find(
    (candidate) =>
      candidate?.kind === kind && (candidate.metadata.name ?? `${candidate.metadata.generateName}*`).startsWith(name),
  )
  if (object === undefined) throw new Error(`no ${kind} ${name} in ${file}`)
  return object
}

function previousOf(webhook: string, next: Loose, first: () => Loose): Loose | undefined {
  if (webhook.startsWith('(UPDATE from the first file)')) return first()
  if (!webhook.startsWith('(UPDATE that removes our finalizer)')) return undefined
  const previous = structuredClone(next)
  const metadata = next['metadata'] as { finalizers: string[] }
  metadata.finalizers = metadata.finalizers.filter((finalizer) => !finalizer.startsWith('karmada.io/multi-cluster-'))
  return previous
}

function withoutGenerateName(object: Loose): Loose {
  const { generateName: _, ...metadata } = object['metadata'] as Loose
  return { ...object, metadata }
}

function validate(kind: string, next: Loose, previous: Loose | undefined): Finding[] {
  return kind === 'MultiClusterIngress'
    ? validateMultiClusterIngress(next as unknown as MultiClusterIngress, previous as MultiClusterIngress | undefined)
    : validateMultiClusterService(next as unknown as MultiClusterService, previous as MultiClusterService | undefined)
}

type Place = readonly string[]

function pathsOf(value: unknown, at: Place = []): Place[] {
  const children = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [at, ...children.flatMap(([key, child]) => pathsOf(child, [...at, key]))]
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...(value as Loose) }
  return Object.assign(copy, { [key]: replaced((value as Loose)[key], rest, by) })
}
