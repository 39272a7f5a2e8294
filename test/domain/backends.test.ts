import t from 'tap'
import type { BackendFinding } from '../../src/domain/backends/backend-finding.ts'
import type { Backends, PortBackend, ResolvedState } from '../../src/domain/backends/backends.ts'
import { findPort } from '../../src/domain/backends/find-port.ts'
import { holdEmptyPools } from '../../src/domain/backends/hold-empty-pools.ts'
import { isHolding, NOTHING_SERVED, type PoolMemory, withoutEndpoints } from '../../src/domain/backends/pool-memory.ts'
import {
  type BackendsInput,
  type ResolvedBackends,
  resolveIngressBackends,
  resolveServiceBackends,
} from '../../src/domain/backends/resolve-backends.ts'
import { resolveCertificates } from '../../src/domain/backends/resolve-certificates.ts'
import { summariseFindings } from '../../src/domain/backends/summarise-findings.ts'
import { type Cidr, isSpecialAddress, isWithin, parseCidr } from '../../src/domain/cidr.ts'
import { deprecatedFields } from '../../src/domain/deprecated-fields.ts'
import type { EndpointSlice, SliceEndpoint } from '../../src/domain/endpoint-slice.ts'
import { parseIpAddress } from '../../src/domain/ip-address.ts'
import type { IngressBackend, MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { Service } from '../../src/domain/service.ts'
import {
  buildBinding,
  buildCluster,
  buildIngress,
  buildSecret,
  buildService,
  buildSlice,
  buildTemplate,
  buildWork,
} from '../support/build-objects.ts'

const EAST = buildSlice({ endpoints: ['10.64.0.12', '10.64.0.11'] })
const WEST = buildSlice({ cluster: 'edge-b', endpoints: ['10.65.0.11'] })

type World = Partial<Omit<BackendsInput, 'options'>> & { options?: Partial<BackendsInput['options']> }

/** Service web in two clusters with an endpoint slice each. */
const world = ({ options, ...changes }: World = {}): BackendsInput => ({
  services: [buildTemplate()],
  bindings: [buildBinding('web', ['edge-a', 'edge-b'])],
  slices: [WEST, EAST],
  clusters: [],
  works: [],
  ...changes,
  options: { failOpen: false, supports: { resourceBackends: false, externalName: false }, ...options },
})

const route = (name: string, port?: { name?: string; number?: number }): IngressBackend => ({
  service: { name, ...(port === undefined ? {} : { port }) },
})
const ingressTo = (...backends: IngressBackend[]): MultiClusterIngress =>
  buildIngress({ spec: { rules: [{ http: { paths: backends.map((backend) => ({ backend })) } }] } })
const WEB = ingressTo(route('web', { number: 80 }))

/** `80/TCP serving: edge-a serving 10.64.0.11:8080; edge-b blocked` */
function describe(port: PortBackend<string>): string {
  const pools = port.pools.map(({ cluster, state, endpoints }) =>
    [cluster, state, ...endpoints.map((e) => `${e.address}:${e.port}${e.draining ? '(draining)' : ''}`)].join(' '),
  )
  return `${port.port ?? port.name}/${port.protocol} ${port.state}: ${pools.join('; ')}`
}
const ports = ({ services }: Backends<string>): string[] => services.flatMap((service) => service.ports.map(describe))
const reasons = (findings: readonly BackendFinding[]): string[] =>
  findings.map(({ reason, message }) => `${reason}: ${message}`)

t.test('endpoints by port and cluster', async (t) => {
  const conditions = (address: string, ready?: boolean, serving?: boolean, terminating?: boolean): SliceEndpoint => ({
    addresses: [address],
    conditions: {
      ...(ready === undefined ? {} : { ready }),
      ...(serving === undefined ? {} : { serving }),
      ...(terminating === undefined ? {} : { terminating }),
    },
  })
  const ONE = [buildBinding('web', ['edge-a'])]
  const slices = (...settings: Parameters<typeof buildSlice>[0][]): World => ({
    bindings: ONE,
    slices: settings.map(buildSlice),
  })
  const rows: [string, World, string[], string[]][] = [
    [
      'two clusters, sorted',
      {},
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080; edge-b serving 10.65.0.11:8080'],
      [],
    ],
    [
      'C48: a cluster that is bound no more',
      { bindings: ONE },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080'],
      [],
    ],
    [
      'C44: ready, not ready, terminating, absent',
      slices({
        endpoints: [
          conditions('10.64.0.11', true, true, false),
          conditions('10.64.0.12', false, false, false),
          conditions('10.64.0.13', false, true, true),
          '10.64.0.14',
          conditions('10.64.0.15', undefined, true),
          conditions('10.64.0.16', false),
        ],
      }),
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.13:8080(draining) 10.64.0.14:8080 10.64.0.15:8080'],
      [],
    ],
    [
      'C44: nothing is ready, what terminates serves',
      slices({ endpoints: [conditions('10.64.0.13', false, true, true), conditions('10.64.0.14', false, false)] }),
      ['80/TCP serving: edge-a serving 10.64.0.13:8080'],
      [],
    ],
    [
      'a cluster whose pods all terminate gets no new traffic while another is ready',
      { slices: [buildSlice({ endpoints: [conditions('10.64.0.13', false, true, true)] }), WEST] },
      ['80/TCP serving: edge-a empty 10.64.0.13:8080(draining); edge-b serving 10.65.0.11:8080'],
      [],
    ],
    [
      'a slice without endpoints says so',
      { bindings: ONE, slices: [{ ...buildSlice(), endpoints: null, ports: null }] },
      ['80/TCP empty: edge-a empty'],
      [],
    ],
    [
      'no slice at all says nothing',
      { slices: [WEST] },
      ['80/TCP serving: edge-a missing; edge-b serving 10.65.0.11:8080'],
      [],
    ],
    ['C39: no slices', { slices: [] }, ['80/TCP missing: edge-a missing; edge-b missing'], []],
    [
      'C43: reported twice, once as a copy',
      {
        slices: [
          EAST,
          buildSlice({
            metadata: {
              name: 'imported-edge-b-edge-a-web-x7k2p',
              annotations: { 'work.karmada.io/namespace': 'karmada-es-edge-b' },
            },
          }),
        ],
      },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080; edge-b missing'],
      [],
    ],
    [
      'a copy alone is better than nothing',
      {
        slices: [
          buildSlice({
            metadata: {
              name: 'imported-edge-b-edge-a-web-x7k2p',
              annotations: { 'work.karmada.io/namespace': 'karmada-es-edge-b' },
            },
          }),
        ],
      },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080; edge-b missing'],
      [],
    ],
    [
      'one address in two slices: the ready one counts; in two clusters: the first',
      {
        slices: [
          buildSlice({ endpoints: [conditions('10.64.0.11', false, true, true)] }),
          buildSlice({ endpoints: ['10.64.0.11'], metadata: { name: 'imported-edge-a-web-zzzzz' } }),
          buildSlice({ cluster: 'edge-b', endpoints: ['10.64.0.11', '10.65.0.1'] }),
        ],
      },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080; edge-b serving 10.65.0.1:8080'],
      [],
    ],
    [
      'dual stack',
      slices(
        { endpoints: ['10.64.0.11'] },
        { endpoints: ['2001:db8::11'], addressType: 'IPv6', metadata: { name: 'imported-edge-a-web-six' } },
      ),
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 2001:db8::11:8080'],
      [],
    ],
    [
      'addresses that are none, of another family, or special',
      slices(
        { endpoints: ['10.64.0.300', { addresses: [] }, {}, '127.0.0.1', '169.254.169.254', '10.64.0.11'] },
        {
          endpoints: ['::ffff:127.0.0.1', '::1', '2001:db8::1%eth0'],
          addressType: 'IPv6',
          metadata: { name: 'imported-edge-a-web-six' },
        },
        { endpoints: ['pod.example.net'], addressType: 'FQDN', metadata: { name: 'imported-edge-a-web-fqdn' } },
      ),
      ['80/TCP serving: edge-a serving 10.64.0.11:8080'],
      ['EndpointsNotAllowed: service shop/web has endpoints in cluster edge-a whose addresses are not allowed'],
    ],
    [
      'an allow-list of networks',
      { options: { networks: [parseCidr('10.65.0.0/16')].filter((network) => network !== undefined) } },
      ['80/TCP serving: edge-a empty; edge-b serving 10.65.0.11:8080'],
      ['EndpointsNotAllowed: service shop/web has endpoints in cluster edge-a whose addresses are not allowed'],
    ],
    [
      'an empty list allows nothing',
      { options: { networks: [] }, slices: [WEST] },
      ['80/TCP missing: edge-a missing; edge-b empty'],
      ['EndpointsNotAllowed: service shop/web has endpoints in cluster edge-b whose addresses are not allowed'],
    ],
    [
      'C37: a blocked cluster',
      { clusters: [buildCluster('edge-a'), buildCluster('edge-b', ['TrafficControl'])] },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080; edge-b blocked'],
      [],
    ],
    [
      'C38: every cluster is blocked',
      { clusters: [buildCluster('edge-a', ['TrafficControl']), buildCluster('edge-b', ['TrafficControl'])] },
      ['80/TCP empty: edge-a blocked; edge-b blocked'],
      ['AllClustersBlocked: service shop/web runs in blocked clusters only (TrafficControl): edge-a, edge-b'],
    ],
    [
      'C38: fail-open',
      {
        clusters: [buildCluster('edge-a', ['TrafficControl']), buildCluster('edge-b', ['TrafficControl'])],
        options: { failOpen: true },
      },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080; edge-b serving 10.65.0.11:8080'],
      [
        'AllClustersBlocked: service shop/web runs in blocked clusters only (TrafficControl): edge-a, edge-b; they keep serving (fail-open)',
      ],
    ],
    [
      'fail-open is for all, not for one',
      { clusters: [buildCluster('edge-b', ['TrafficControl'])], slices: [WEST], options: { failOpen: true } },
      ['80/TCP missing: edge-a missing; edge-b blocked'],
      [],
    ],
    [
      'C47: a cluster that is not ready is not drained',
      {
        clusters: [
          { ...buildCluster('edge-b'), status: { conditions: [{ type: 'Ready', status: 'False' }] } } as never,
        ],
      },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080; edge-b serving 10.65.0.11:8080'],
      [],
    ],
    [
      'C49: scheduled nowhere',
      { bindings: [buildBinding('web')] },
      ['80/TCP missing: '],
      ['ServiceNotScheduled: service shop/web is scheduled to no cluster'],
    ],
    [
      'no binding',
      { bindings: [] },
      ['80/TCP missing: '],
      ['ServiceNotScheduled: service shop/web is scheduled to no cluster'],
    ],
    [
      'C33: no Service',
      { services: [buildTemplate('other')] },
      ['80/TCP missing: '],
      ['ServiceNotFound: service shop/web not found'],
    ],
    [
      'a slice that nobody can place',
      { slices: [EAST, buildSlice({ metadata: { name: 'stray', annotations: {} } })] },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080 10.64.0.12:8080; edge-b missing'],
      [
        'SliceClusterUnknown: endpointslice shop/stray is of an unknown cluster and does not count: it has no Work coordinates and no name that Karmada gives',
      ],
    ],
    [
      'slices of other namespaces, Services and hands',
      {
        bindings: ONE,
        slices: [
          buildSlice({ metadata: { namespace: 'other' } }),
          buildSlice({ service: 'api' }),
          buildSlice({ metadata: { labels: { 'kubernetes.io/service-name': 'web' }, annotations: {} } }),
        ],
      },
      ['80/TCP missing: edge-a missing'],
      [],
    ],
    [
      'by the Work (v1.10)',
      {
        bindings: ONE,
        slices: [buildSlice({ metadata: { name: 'odd', annotations: {} } })],
        works: [buildWork('karmada-es-edge-a', 'id-edge-a')],
      },
      ['80/TCP serving: edge-a serving 10.64.0.11:8080'],
      [],
    ],
  ]
  for (const [title, changes, expected, findings] of rows) {
    const resolved = resolveIngressBackends(WEB, world(changes))
    t.strictSame(ports(resolved.backends), expected, title)
    t.strictSame(reasons(resolved.findings), findings, `${title}: findings`)
  }
  const zoned = { addresses: ['10.64.0.11'], zone: 'eu-1', nodeName: 'node-1' }
  const { backends } = resolveIngressBackends(WEB, world(slices({ endpoints: [zoned] })))
  t.strictSame(backends.services[0]?.ports[0]?.pools[0]?.endpoints, [
    {
      address: '10.64.0.11',
      family: 'IPv4',
      port: 8080,
      ready: true,
      serving: true,
      terminating: false,
      nodeName: 'node-1',
      zone: 'eu-1',
      draining: false,
    },
  ])
  const shuffled = world({ slices: [EAST, WEST], bindings: [buildBinding('web', ['edge-b', 'edge-a'])] })
  t.strictSame(
    resolveIngressBackends(WEB, shuffled),
    resolveIngressBackends(WEB, world()),
    'order of the world does not matter',
  )
})

t.test('which ports an ingress means', async (t) => {
  const template = buildTemplate('web', [
    { name: 'http', port: 80, appProtocol: 'kubernetes.io/h2c' },
    { name: 'metrics', port: 9090 },
    { name: 'quic', port: 80, protocol: 'UDP' },
  ])
  const slices = [
    buildSlice({
      ports: [
        { name: 'metrics', port: 9090 },
        { name: 'http', port: 8443, protocol: 'TCP' },
        { name: 'quic', port: 1, protocol: 'UDP' },
      ],
    }),
  ]
  const bindings = [buildBinding('web', ['edge-a'])]
  const rows: [string, IngressBackend[], string[], string[], Service?][] = [
    [
      'C14: by name, to the slice port of the same name',
      [route('web', { name: 'http' })],
      ['80/TCP serving: edge-a serving 10.64.0.11:8443'],
      [],
    ],
    [
      'by number and by name: one port',
      [route('web', { number: 80 }), route('web', { name: 'http' }), route('web', { number: 80 })],
      ['80/TCP serving: edge-a serving 10.64.0.11:8443'],
      [],
    ],
    [
      'two ports, in the order of the Service',
      [route('web', { name: 'metrics' }), route('web', { number: 80 })],
      ['80/TCP serving: edge-a serving 10.64.0.11:8443', '9090/TCP serving: edge-a serving 10.64.0.11:9090'],
      [],
    ],
    [
      'a number that is not there',
      [route('web', { number: 81 })],
      ['81/TCP empty: '],
      ['ServicePortNotFound: service shop/web has no port 81'],
    ],
    [
      'a name that is not there, or is UDP',
      [route('web', { name: 'quic' })],
      ['quic/TCP empty: '],
      ['ServicePortNotFound: service shop/web has no port named quic'],
    ],
    [
      'none, with several',
      [route('web')],
      ['/TCP empty: '],
      ['ServicePortNotFound: service shop/web has not exactly one port, and none is chosen'],
    ],
    ['none, with one', [route('web')], ['80/TCP serving: edge-a serving 10.64.0.11:8443'], [], buildTemplate()],
    [
      'a port of no slice',
      [route('web', { number: 81 })],
      ['81/TCP empty: edge-a empty'],
      [],
      buildTemplate('web', [{ name: 'new', port: 81 }]),
    ],
    [
      'headless',
      [route('web', { number: 80 })],
      ['80/TCP serving: edge-a serving 10.64.0.11:8443'],
      [],
      { ...buildTemplate(), spec: { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] } },
    ],
    [
      'no spec',
      [route('web', { number: 80 })],
      ['80/TCP empty: '],
      ['ServicePortNotFound: service shop/web has no port 80'],
      { ...buildTemplate(), spec: undefined } as never,
    ],
  ]
  for (const [title, backends, expected, findings, service = template] of rows) {
    const resolved = resolveIngressBackends(ingressTo(...backends), world({ services: [service], slices, bindings }))
    t.strictSame(ports(resolved.backends), expected, title)
    t.strictSame(reasons(resolved.findings), findings, `${title}: findings`)
  }
  const unnamed = world({
    services: [buildTemplate('web', [{ port: 80 }])],
    slices: [buildSlice({ ports: [{ port: 8080 }] })],
    bindings,
  })
  t.strictSame(ports(resolveIngressBackends(WEB, unnamed).backends), ['80/TCP serving: edge-a serving 10.64.0.11:8080'])
  const every = world({
    services: [buildTemplate('web', [{ port: 80 }])],
    slices: [buildSlice({ ports: [{ name: '' }] })],
    bindings,
  })
  t.strictSame(
    ports(resolveIngressBackends(WEB, every).backends),
    ['80/TCP empty: edge-a empty'],
    'a slice port without number is none',
  )

  const resolved = resolveIngressBackends(
    ingressTo(route('web', { number: 80 }), route('api', { number: 80 })),
    world(),
  )
  t.strictSame(
    resolved.backends.services.map(({ name }) => name),
    ['api', 'web'],
  )
  t.equal(findPort(resolved.backends, 'shop', route('web', { number: 80 }))?.port.state, 'serving')
  t.equal(findPort(resolved.backends, 'shop', route('web', { name: 'http' }))?.port.port, 80)
  t.equal(findPort(resolved.backends, 'shop', route('web'))?.service.name, 'web', 'the only port')
  t.equal(findPort(resolved.backends, 'shop', route('web', { number: 81 })), undefined)
  t.equal(findPort(resolved.backends, 'other', route('web', { number: 80 })), undefined)
  t.equal(findPort(resolved.backends, 'shop', { resource: { kind: 'StorageBucket', name: 'x' } }), undefined)
})

t.test('which ports and clusters a MultiClusterService means', async (t) => {
  const dns = buildTemplate('game', [
    { name: 'dns-tcp', port: 53 },
    { name: 'dns-udp', port: 53, protocol: 'UDP' },
    { name: 'admin', port: 9000 },
  ])
  const slice = (cluster: string, address: string) =>
    buildSlice({
      cluster,
      service: 'game',
      endpoints: [address],
      ports: [
        { name: 'dns-tcp', port: 5353 },
        { name: 'dns-udp', port: 5354, protocol: 'UDP' },
        { name: 'admin', port: 9000 },
      ],
    })
  const input = world({
    services: [dns],
    bindings: [buildBinding('game', ['edge-a', 'edge-b'])],
    slices: [slice('edge-a', '10.64.1.11'), slice('edge-b', '10.65.1.11')],
  })
  const TCP = '53/TCP serving: edge-a serving 10.64.1.11:5353; edge-b serving 10.65.1.11:5353'
  const UDP = '53/UDP serving: edge-a serving 10.64.1.11:5354; edge-b serving 10.65.1.11:5354'
  const ADMIN = '9000/TCP serving: edge-a serving 10.64.1.11:9000; edge-b serving 10.65.1.11:9000'
  const rows: [string, object, string[], string[]][] = [
    ['no ports: all', {}, [TCP, UDP, ADMIN], []],
    ['C51: a subset', { ports: [{ port: 9000 }] }, [ADMIN], []],
    ['C52: the name decides', { ports: [{ name: 'dns-udp', port: 53 }] }, [UDP], []],
    ['C63: a bare number means both protocols', { ports: [{ name: '', port: 53 }] }, [TCP, UDP], []],
    [
      'C64: not in the Service, or name and number disagree',
      { ports: [{ port: 53 }, { port: 8888 }, { name: 'nope', port: 53 }, { name: 'admin', port: 53 }] },
      [TCP, UDP],
      [
        'ServicePortNotFound: service shop/game has no port 8888',
        'ServicePortNotFound: service shop/game has no port named nope with number 53',
        'ServicePortNotFound: service shop/game has no port named admin with number 53',
      ],
    ],
    [
      'C60: providerClusters filters',
      { ports: [{ port: 9000 }], providerClusters: [{ name: 'edge-b' }, { name: 'mars' }] },
      ['9000/TCP serving: edge-b serving 10.65.1.11:9000'],
      [],
    ],
    [
      'C60: and leaves none',
      { ports: [{ port: 9000 }], providerClusters: [{ name: 'mars' }] },
      ['9000/TCP missing: '],
      ['ProviderClustersNotBound: service shop/game runs in none of spec.providerClusters'],
    ],
  ]
  for (const [title, spec, expected, findings] of rows) {
    const resolved = resolveServiceBackends(buildService({ spec: { types: ['LoadBalancer'], ...spec } }), input)
    t.strictSame(ports(resolved.backends), expected, title)
    t.strictSame(reasons(resolved.findings), findings, `${title}: findings`)
  }
  const missing = resolveServiceBackends(buildService(), { ...input, services: [] })
  t.strictSame(ports(missing.backends), ['80/TCP missing: '], 'C62')
  t.strictSame(reasons(missing.findings), ['ServiceNotFound: service shop/game not found'])
  t.strictSame(
    resolveServiceBackends({ ...buildService(), spec: undefined, metadata: { name: 'game' } } as never, input).backends
      .services[0]?.ports,
    [],
    'no namespace, no spec',
  )
  const blocked = { ...input, clusters: [buildCluster('edge-b', ['TrafficControl'])] }
  t.strictSame(
    ports(resolveServiceBackends(buildService({ spec: { ports: [{ port: 9000 }] } }), blocked).backends),
    ['9000/TCP serving: edge-a serving 10.64.1.11:9000; edge-b blocked'],
    'B31: TrafficControl applies to a MultiClusterService too',
  )
  t.strictSame(resolveServiceBackends(buildService(), blocked).blocked, ['edge-b'])
})

t.test('resources and external names', async (t) => {
  const bucket = { resource: { kind: 'StorageBucket', name: 'static-assets' } }
  const mixed = ingressTo(route('web', { number: 80 }), bucket, bucket)
  t.strictSame(
    reasons(resolveIngressBackends(mixed, world()).findings),
    ['ResourceBackendNotSupported: resource backend StorageBucket/static-assets is not supported'],
    'C13: one finding, and the Service is served',
  )
  t.equal(resolveIngressBackends(mixed, world()).backends.services.length, 1)
  const supports = { resourceBackends: true, externalName: true }
  t.strictSame(resolveIngressBackends(mixed, world({ options: { supports } })).findings, [], 'C12: where supported')

  const named = (externalName?: string, ports?: { name?: string; port: number }[]): Service => ({
    ...buildTemplate(),
    spec: {
      type: 'ExternalName',
      ...(externalName === undefined ? {} : { externalName }),
      ...(ports === undefined ? {} : { ports }),
    },
  })
  const networks = [parseCidr('192.0.2.0/24')].filter((network) => network !== undefined)
  const rows: [string, Service, boolean, Cidr[] | undefined, string | undefined, string[]][] = [
    ['C34: supported', named('Legacy.Example.NET.'), true, undefined, 'legacy.example.net', []],
    [
      'C34: not supported',
      named('legacy.example.net'),
      false,
      undefined,
      undefined,
      ['ExternalNameNotSupported: service shop/web is of type ExternalName, which is not supported'],
    ],
    ['an address', named('192.0.2.9'), true, networks, '192.0.2.9', []],
    ['an address, no networks', named('192.0.2.9'), true, undefined, '192.0.2.9', []],
    [
      'an address elsewhere',
      named('198.51.100.9'),
      true,
      networks,
      undefined,
      [
        'ExternalNameRefused: service shop/web of type ExternalName names the address 198.51.100.9, which is not allowed',
      ],
    ],
    [
      'loopback',
      named('localhost'),
      true,
      undefined,
      undefined,
      ['ExternalNameRefused: service shop/web of type ExternalName names localhost, which is not allowed'],
    ],
    [
      'below loopback',
      named('a.LOCALHOST'),
      true,
      undefined,
      undefined,
      ['ExternalNameRefused: service shop/web of type ExternalName names a.localhost, which is not allowed'],
    ],
    [
      'metadata',
      named('169.254.169.254'),
      true,
      undefined,
      undefined,
      [
        'ExternalNameRefused: service shop/web of type ExternalName names the address 169.254.169.254, which is not allowed',
      ],
    ],
    [
      'a number in disguise',
      named('0x7f.1'),
      true,
      undefined,
      undefined,
      ['ExternalNameRefused: service shop/web of type ExternalName names 0x7f.1, which is not allowed'],
    ],
    [
      'refused before not supported',
      named('2130706433'),
      false,
      undefined,
      undefined,
      ['ExternalNameRefused: service shop/web of type ExternalName names 2130706433, which is not allowed'],
    ],
    [
      'no name',
      named(),
      true,
      undefined,
      undefined,
      ['ExternalNameRefused: service shop/web of type ExternalName has no externalName'],
    ],
  ]
  for (const [title, service, externalName, networks, expected, findings] of rows) {
    const options = {
      supports: { resourceBackends: false, externalName },
      ...(networks === undefined ? {} : { networks }),
    }
    const resolved = resolveIngressBackends(WEB, world({ services: [service], options }))
    t.equal(resolved.backends.services[0]?.externalName, expected, title)
    t.strictSame(ports(resolved.backends), [`80/TCP ${expected === undefined ? 'empty' : 'serving'}: `], title)
    t.strictSame(reasons(resolved.findings), findings, `${title}: findings`)
  }
  const byName = ingressTo(route('web', { name: 'http' }), route('web', { name: 'nope' }))
  const resolved = resolveIngressBackends(
    byName,
    world({ services: [named('legacy.example.net', [{ name: 'http', port: 8080 }])], options: { supports } }),
  )
  t.strictSame(ports(resolved.backends), ['8080/TCP serving: ', 'nope/TCP serving: '])
  t.strictSame(reasons(resolved.findings), ['ServicePortNotFound: service shop/web has no port named nope'])
})

t.test('pools that would become empty are held for a while', async (t) => {
  const now = 1_000_000
  const resolve = (changes: World = {}): ResolvedBackends => resolveIngressBackends(WEB, world(changes))
  const serving = holdEmptyPools(NOTHING_SERVED, resolve(), now)
  t.strictSame(serving.lookAgainMs, undefined)
  t.strictSame(Object.keys(serving.memory).sort(), [
    'shop/web:80/TCP',
    'shop/web:80/TCP@edge-a',
    'shop/web:80/TCP@edge-b',
  ])
  t.equal(isHolding(serving.backends), false)
  const BLOCK = (...names: string[]) => names.map((name) => buildCluster(name, ['TrafficControl']))
  const unbound = { bindings: [buildBinding('web')] }
  const rows: [string, PoolMemory | undefined, World, string[], string[], number?][] = [
    [
      'no balancer yet: no grace (C33, C39)',
      NOTHING_SERVED,
      { slices: [] },
      ['80/TCP empty: edge-a empty; edge-b empty'],
      [],
    ],
    [
      'slices vanish',
      serving.memory,
      { slices: [] },
      ['80/TCP held: edge-a held 10.64.0.11:8080 10.64.0.12:8080; edge-b held 10.65.0.11:8080'],
      [],
      15_000,
    ],
    [
      'slices of one bound cluster vanish',
      serving.memory,
      { slices: [WEST] },
      ['80/TCP serving: edge-a held 10.64.0.11:8080 10.64.0.12:8080; edge-b serving 10.65.0.11:8080'],
      [],
      15_000,
    ],
    [
      'C48: a cluster is bound no more, another serves',
      serving.memory,
      { bindings: [buildBinding('web', ['edge-b'])] },
      ['80/TCP serving: edge-b serving 10.65.0.11:8080'],
      [],
    ],
    [
      'C49: bound nowhere any more',
      serving.memory,
      unbound,
      ['80/TCP held: edge-a held 10.64.0.11:8080 10.64.0.12:8080; edge-b held 10.65.0.11:8080'],
      [],
      15_000,
    ],
    ['C49: and nobody remembers, but a balancer exists', undefined, unbound, ['80/TCP held: '], [], 15_000],
    [
      'nobody remembers, slices are missing',
      undefined,
      { slices: [WEST] },
      ['80/TCP serving: edge-a held; edge-b serving 10.65.0.11:8080'],
      [],
      15_000,
    ],
    [
      'bound nowhere, one cluster under TrafficControl: that one goes at once',
      serving.memory,
      { ...unbound, clusters: BLOCK('edge-a') },
      ['80/TCP held: edge-b held 10.65.0.11:8080'],
      [],
      15_000,
    ],
    [
      'C37: blocked goes at once',
      serving.memory,
      { clusters: BLOCK('edge-a') },
      ['80/TCP serving: edge-a blocked; edge-b serving 10.65.0.11:8080'],
      [],
    ],
    [
      'C38: all blocked, at once',
      serving.memory,
      { clusters: BLOCK('edge-a', 'edge-b') },
      ['80/TCP empty: edge-a blocked; edge-b blocked'],
      ['AllClustersBlocked: service shop/web runs in blocked clusters only (TrafficControl): edge-a, edge-b'],
    ],
    [
      'a cluster that says it has none is believed',
      serving.memory,
      { slices: [buildSlice({ endpoints: [] }), buildSlice({ cluster: 'edge-b', endpoints: [] })] },
      ['80/TCP empty: edge-a empty; edge-b empty'],
      [],
    ],
    [
      'the Service vanishes',
      serving.memory,
      { services: [] },
      ['80/TCP held: edge-a held 10.64.0.11:8080 10.64.0.12:8080; edge-b held 10.65.0.11:8080'],
      ['ServiceNotFound: service shop/web not found'],
      15_000,
    ],
  ]
  for (const [title, previous, changes, expected, findings, rest] of rows) {
    const held = holdEmptyPools(previous, resolve(changes), now)
    t.strictSame(ports(held.backends), expected, title)
    t.strictSame(reasons(held.findings), findings, `${title}: findings`)
    t.equal(held.lookAgainMs, rest, `${title}: rest`)
    t.equal(isHolding(held.backends), rest !== undefined)
  }

  // The grace period runs from the first pass that missed them, whatever looks in between.
  const first = holdEmptyPools(serving.memory, resolve(unbound), now)
  const second = holdEmptyPools(withoutEndpoints(first.memory), resolve(unbound), now + 14_000)
  t.strictSame(ports(second.backends), ['80/TCP held: edge-a held; edge-b held'], 'a small memory keeps no endpoints')
  t.equal(second.lookAgainMs, 1_000)
  const third = holdEmptyPools(second.memory, resolve(unbound), now + 15_000)
  t.strictSame(ports(third.backends), ['80/TCP empty: '])
  t.strictSame(
    reasons(third.findings),
    ['ServiceNotScheduled: service shop/web is scheduled to no cluster'],
    'C49: one Warning, when emptied',
  )
  t.strictSame(third.memory, {}, 'and forgotten')
  t.strictSame(
    ports(holdEmptyPools(third.memory, resolve(unbound), now + 15_001).backends),
    ['80/TCP empty: '],
    'emptied for good',
  )
  const back = holdEmptyPools(first.memory, resolve(), now + 14_000)
  t.strictSame(back.memory, serving.memory, 'back within the grace period: nothing happened')

  const lost = holdEmptyPools(serving.memory, resolve({ slices: [] }), now)
  const emptied = holdEmptyPools(lost.memory, resolve({ slices: [] }), now + 20_000)
  t.strictSame(reasons(emptied.findings), ['BackendsEmptied: service shop/web has no endpoints any more'])
  t.strictSame(reasons(holdEmptyPools(emptied.memory, resolve({ slices: [] }), now + 30_000).findings), [], 'told once')
  const skewed = holdEmptyPools(
    { 'shop/web:80/TCP': { missingSince: now + 99_000, endpoints: [] } },
    resolve(unbound),
    now,
  )
  t.equal(skewed.lookAgainMs, 15_000, 'a moment in the future is another’s clock')
  t.equal(holdEmptyPools(serving.memory, resolve(unbound), now, 0).lookAgainMs, undefined, 'no grace')

  const byName = ingressTo(route('web', { name: 'http' }))
  const gone = holdEmptyPools(serving.memory, resolveIngressBackends(byName, world({ services: [] })), now)
  t.strictSame(ports(gone.backends), ['http/TCP held: '], 'a port that only the vanished Service could number')
  const nobody = {
    backends: { services: [] as Backends<ResolvedState>['services'] },
    findings: [{ type: 'Warning', reason: 'ServiceNotScheduled', subject: 'service x/y', message: '' }],
    blocked: [],
  } as ResolvedBackends
  t.equal(holdEmptyPools({}, nobody, now).findings.length, 1)
})

t.test('networks and addresses', async (t) => {
  const addresses: [string, string | undefined][] = [
    ['192.0.2.1', 'IPv4 3221225985'],
    ['0.0.0.0', 'IPv4 0'],
    ['192.0.2', undefined],
    ['192.0.2.256', undefined],
    ['192.0.02.1', undefined],
    ['192.0.2.1.5', undefined],
    ['::', 'IPv6 0'],
    ['::1', 'IPv6 1'],
    ['2001:DB8::1', 'IPv6 42540766411282592856903984951653826561'],
    ['1:2:3:4:5:6:7:8', 'IPv6 5192455318486707404433266433261576'],
    ['::ffff:192.0.2.1', 'IPv4 3221225985'],
    ['fe80::1%eth0', undefined],
    ['1:2:3', undefined],
    ['web.example.com', undefined],
    ['', undefined],
  ]
  for (const [text, expected] of addresses) {
    const parsed = parseIpAddress(text)
    t.equal(parsed && `${parsed.family} ${parsed.value}`, expected, text)
  }
  const within: [string, string, boolean][] = [
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.77/24', '192.0.2.1', true],
    ['0.0.0.0/0', '203.0.113.1', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['192.0.2.1/32', '192.0.2.1', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::/0', '192.0.2.1', false],
  ]
  for (const [network, address, expected] of within) {
    const [cidr, parsed] = [parseCidr(network), parseIpAddress(address)]
    t.equal(cidr && parsed && isWithin(parsed, [cidr]), expected, `${address} in ${network}`)
  }
  for (const text of [
    '192.0.2.0',
    '192.0.2.0/33',
    '2001:db8::/129',
    '192.0.2.0/24/1',
    '192.0.2.0/x',
    '192.0.2.0/01',
    'x/8',
    '',
  ]) {
    t.equal(parseCidr(text), undefined, text)
  }
  for (const [text, special] of [
    ['127.0.0.2', true],
    ['fe80::1', true],
    ['ff02::1', true],
    ['0.1.2.3', true],
    ['10.0.0.1', false],
    ['fd00::1', false],
  ] as const) {
    const parsed = parseIpAddress(text)
    t.equal(parsed && isSpecialAddress(parsed), special, text)
  }
})

t.test('certificates, and never a word of a key', async (t) => {
  const ingress = buildIngress({
    spec: {
      tls: [
        { hosts: ['store.example.com'], secretName: 'store-tls' },
        { hosts: ['managed.example.com'] },
        { hosts: ['pay.example.com', 'store.example.com'], secretName: 'store-tls' },
        { hosts: ['a.example.com'], secretName: 'gone-tls' },
        { secretName: 'opaque-tls' },
        { secretName: 'no-cert' },
        { secretName: 'no-key' },
        { secretName: 'broken' },
        { secretName: '', hosts: ['managed2.example.com'] },
      ],
    },
  })
  const sensitive = 'sensitive-material'
  const key = btoa(sensitive)
  const secrets = [
    buildSecret('store-tls', { data: { 'tls.crt': btoa('certificate'), 'tls.key': key } }),
    { ...buildSecret('gone-tls'), metadata: { name: 'gone-tls', namespace: 'other' } },
    buildSecret('opaque-tls', { type: 'Opaque', data: { 'tls.crt': btoa('x'), 'tls.key': key } }),
    buildSecret('no-cert', { data: { 'tls.key': key } }),
    buildSecret('no-key', { data: { 'tls.crt': btoa('x'), 'tls.key': '' } }),
    buildSecret('broken', { data: { 'tls.crt': btoa('x'), 'tls.key': `%${sensitive}` } }),
  ]
  const { certificates, findings } = resolveCertificates(ingress, secrets)
  t.strictSame(certificates, [
    {
      hosts: ['store.example.com', 'pay.example.com'],
      secretName: 'store-tls',
      certificate: 'certificate',
      key: sensitive,
    },
    { hosts: ['managed.example.com', 'managed2.example.com'] },
    { hosts: ['a.example.com'], secretName: 'gone-tls' },
    { hosts: [], secretName: 'opaque-tls' },
    { hosts: [], secretName: 'no-cert' },
    { hosts: [], secretName: 'no-key' },
    { hosts: [], secretName: 'broken' },
  ])
  t.strictSame(reasons(findings), [
    'SecretNotFound: secret shop/gone-tls not found',
    'SecretInvalid: secret shop/opaque-tls is not of type kubernetes.io/tls',
    'SecretInvalid: secret shop/no-cert has no usable tls.crt',
    'SecretInvalid: secret shop/no-key has no usable tls.key',
    'SecretInvalid: secret shop/broken has no usable tls.key',
  ])
  const told = JSON.stringify(findings)
  for (const word of [sensitive, key]) t.notOk(told.includes(word), 'no key material')
  const forAll = buildIngress({
    spec: { tls: [{ hosts: ['a.example.com'], secretName: 'one' }, { secretName: 'one' }] },
  })
  t.match(
    resolveCertificates(forAll, []).certificates,
    [{ hosts: [], secretName: 'one' }],
    'for all hosts, and for one',
  )
  t.strictSame(resolveCertificates({ metadata: { name: 'x' } } as MultiClusterIngress, []), {
    certificates: [],
    findings: [],
  })
  t.equal(
    resolveCertificates(ingress, [{ ...buildSecret('store-tls'), data: undefined } as never]).findings[0]?.reason,
    'SecretInvalid',
  )
})

t.test('findings for people', async (t) => {
  const slices: EndpointSlice[] = []
  const many = ingressTo(...Array.from({ length: 7 }, (_, index) => route(`svc-${index}`, { number: 80 })), {
    resource: { kind: 'StorageBucket', name: 'x' },
  })
  const { findings } = resolveIngressBackends(many, world({ services: [], slices }))
  t.strictSame(
    reasons(summariseFindings(findings)),
    [
      'ResourceBackendNotSupported: resource backend StorageBucket/x is not supported',
      `ServiceNotFound: ${[0, 1, 2, 3, 4].map((index) => `service shop/svc-${index} not found`).join('; ')}; and 2 more`,
    ],
    'C18: one finding a reason, shortened',
  )
  t.strictSame(summariseFindings([]), [])
  const deprecated = (spec: object) =>
    reasons(deprecatedFields(buildService({ spec: { types: ['LoadBalancer'], ...spec } })))
  t.strictSame(
    deprecated({ range: { clusterNames: ['edge-a'] }, serviceProvisionClusters: ['edge-a'] }),
    [
      'DeprecatedFields: multiclusterservice shop/game: ignored are spec.range (use providerClusters and consumerClusters), spec.serviceProvisionClusters (use providerClusters)',
    ],
    'C59',
  )
  t.strictSame(deprecated({ range: {}, serviceConsumptionClusters: [] }), [], 'C74: what the webhook writes')
  t.strictSame(deprecated({ range: null }), [])
  t.strictSame(
    deprecatedFields({ metadata: { name: 'x' }, spec: { range: { clusterNames: ['a'] } } } as never)[0]?.subject,
    'multiclusterservice /x',
  )
})
