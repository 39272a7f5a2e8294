import fc from 'fast-check'
import t from 'tap'
import type { PortBackend } from '../../src/domain/backends/backends.ts'
import type { Certificate } from '../../src/domain/backends/resolve-certificates.ts'
import { listenerSettings } from '../../src/domain/listening/listener-settings.ts'
import { planListeners } from '../../src/domain/listening/plan-listeners.ts'
import type { IngressBackend } from '../../src/domain/multi-cluster-ingress.ts'
import { compareRoutes } from '../../src/domain/routing/compare-routes.ts'
import { coversHost } from '../../src/domain/routing/covers-host.ts'
import { matchRoute } from '../../src/domain/routing/match-route.ts'
import { planIngressRoutes } from '../../src/domain/routing/plan-ingress-routes.ts'
import type { PlannedRoute, RoutePlan } from '../../src/domain/routing/route-plan.ts'
import { type RouteSettings, routeSettings } from '../../src/domain/routing/route-settings.ts'
import { serverWeights, type WeightedCluster } from '../../src/domain/routing/server-weights.ts'
import { buildBackends, buildPort, type PoolsByCluster } from '../support/build-backends.ts'
import { buildIngress, buildService } from '../support/build-objects.ts'
import { describeRow, ingressOfRow, PATH_TABLE, serviceOfRow } from '../support/path-table.ts'

const SETTINGS = routeSettings({})

const NAMES = ['s0', 's1', 's2', 'fallback']
const ALL = buildBackends(Object.fromEntries(NAMES.map((name) => [name, [buildPort({ east: ['10.64.0.11:8080'] })]])))

const to = (name: string, number = 80): IngressBackend => ({ service: { name, port: { number } } })
const path = (text: string | undefined, name = 's0', pathType: string | undefined = 'Prefix') => ({
  ...(text === undefined ? {} : { path: text }),
  ...(pathType === undefined ? {} : { pathType }),
  backend: to(name),
})

type Rules = NonNullable<NonNullable<ReturnType<typeof buildIngress>['spec']>['rules']>
function planOf(rules: Rules, more: { defaultBackend?: IngressBackend; certificates?: Certificate[] } = {}): RoutePlan {
  const { defaultBackend, certificates = [] } = more
  const ingress = buildIngress({ spec: { rules, ...(defaultBackend && { defaultBackend }) } })
  return planIngressRoutes(ingress, ALL, certificates, SETTINGS)
}
/** `Prefix shop.example.com/a → s0:80` */
const described = ({ routes }: RoutePlan): string[] =>
  routes.map(({ match, host, path, upstream, tls }) => `${match} ${host}${path} → ${upstream}${tls ? ' tls' : ''}`)

t.test('the path table', async (t) => {
  t.ok(PATH_TABLE.length > 50)
  for (const row of PATH_TABLE) {
    const plan = planIngressRoutes(ingressOfRow(row), ALL, [], SETTINGS)
    const match = matchRoute([plan], row.host, row.path.replace(/\?.*/, ''))
    const upstream = match.kind === 'route' ? match.route.upstream : match.kind === 'default' ? match.upstream : 'none'
    t.equal(upstream, `${serviceOfRow(row)}:80`, describeRow(row))
    t.equal(match.kind, row.takenBy === undefined ? 'default' : 'route', describeRow(row))
  }
})

t.test('routes of an ingress, by precedence', async (t) => {
  const plan = planOf([
    { http: { paths: [path('/'), path('/aa', 's1')] } },
    { host: '*.example.com', http: { paths: [path('/')] } },
    {
      host: 'Shop.Example.com',
      http: { paths: [path('/b/'), path('/b', 's1', 'Exact'), path(undefined, 's2', undefined)] },
    },
    { host: 'api.example.com', http: { paths: [path('/b', 'gone')] } },
  ])
  t.strictSame(described(plan), [
    'Prefix api.example.com/b → undefined',
    'Exact shop.example.com/b → s1:80',
    'Prefix shop.example.com/b → s0:80',
    'Prefix shop.example.com/ → s2:80',
    'Prefix *.example.com/ → s0:80',
    'Prefix /aa → s1:80',
    'Prefix / → s0:80',
  ])
  t.strictSame(
    plan.upstreams.map(({ key }) => key),
    ['s0:80', 's1:80', 's2:80'],
  )
})

t.test('what is not a route', async (t) => {
  const none = { http: { paths: [path('/')] } }
  const rows: [string, Rules, string[]][] = [
    ['the same path twice: the first', [{ http: { paths: [path('/a'), path('/a/', 's1')] } }], ['Prefix /a → s0:80']],
    ['a path with a space', [{ http: { paths: [path('/a b'), path('/a')] } }], ['Prefix /a → s0:80']],
    ['a path with a line break', [{ http: { paths: [path('/a\nb')] } }], []],
    ['a path with half an escape', [{ http: { paths: [path('/a%2')] } }], []],
    ['a regular expression', [{ http: { paths: [path('/a(/|$)(.*)', 's0', 'ImplementationSpecific')] } }], []],
    ['no path at all', [{ http: { paths: [path('a')] } }], []],
    ['a host with a line break', [{ host: 'a.com\nb', ...none }], []],
    ['a host with a star inside', [{ host: 'a.*.com', ...none }], []],
    ['a star alone', [{ host: '*', ...none }], []],
    ['a rule without paths, of any host', [{}], []],
  ]
  for (const [title, rules, expected] of rows) t.strictSame(described(planOf(rules)), expected, title)
})

t.test('the default backend', async (t) => {
  const alone = planOf([], { defaultBackend: to('fallback') })
  t.match(alone, { routes: [], defaultUpstream: 'fallback:80', upstreams: [{ key: 'fallback:80' }] })
  const whole = planOf([{ host: 'a.com' }], { defaultBackend: to('fallback') })
  t.strictSame(described(whole), ['Prefix a.com/ → fallback:80'], 'a host without paths goes there')
  t.strictSame(described(planOf([{ host: 'a.com' }])), [], 'where there is one')
  const resource = planOf([], { defaultBackend: { resource: { kind: 'Bucket', name: 'static' } } })
  t.notOk('defaultUpstream' in resource)
})

t.test('objects that share an address', async (t) => {
  const shop = planOf([{ host: 'a.com', http: { paths: [path('/', 's0')] } }])
  const blog = planOf([{ host: 'a.com', http: { paths: [path('/blog', 's1'), path('/', 's2')] } }])
  const rest = planOf([{ host: '*.com', http: { paths: [path('/x')] } }], { defaultBackend: to('fallback') })
  const rows: [string, string, string][] = [
    ['a.com', '/blog/1', 's1:80'],
    ['a.com', '/x', 's0:80'],
    ['b.com', '/x', 's0:80'],
    ['b.com', '/y', 'fallback:80'],
    ['b.org', '/x', 'fallback:80'],
  ]
  for (const [host, requested, expected] of rows) {
    const match = matchRoute([shop, blog, rest], host, requested)
    t.equal(match.kind === 'route' ? match.route.upstream : match.kind === 'default' && match.upstream, expected)
  }
  t.equal(matchRoute([shop, blog], 'b.org', '/').kind, 'none')
  const [first, second] = [matchRoute([shop, blog], 'a.com', '/'), matchRoute([blog, shop], 'a.com', '/')]
  t.equal(first.kind === 'route' && first.plan, shop, 'of two that claim the same the first has it')
  t.equal(second.kind === 'route' && second.plan, blog)
})

t.test('certificates', async (t) => {
  const pem = { certificate: 'c', key: 'k' }
  const rules: Rules = ['shop.example.com', 'a.b.example.com', '*.example.com', ''].map((host) => ({
    host,
    http: { paths: [path('/')] },
  }))
  const tlsOf = (...certificates: Certificate[]) =>
    planOf(rules, { certificates })
      .routes.filter(({ tls }) => tls)
      .map(({ host }) => host)
  const rows: [string, Certificate[], string[]][] = [
    ['of the host', [{ hosts: ['Shop.example.com'], secretName: 'a', ...pem }], ['shop.example.com']],
    ['a wildcard', [{ hosts: ['*.example.com'], secretName: 'a', ...pem }], ['shop.example.com', '*.example.com']],
    [
      'of no hosts: all',
      [{ hosts: [], secretName: 'a', ...pem }],
      ['a.b.example.com', 'shop.example.com', '*.example.com', ''],
    ],
    ['without a usable Secret', [{ hosts: [], secretName: 'a' }], []],
    ['without a Secret', [{ hosts: [], ...pem }], []],
    ['of hosts that cannot be: none, not all', [{ hosts: ['a\nb'], secretName: 'a', ...pem }], []],
  ]
  for (const [title, certificates, expected] of rows) t.strictSame(tlsOf(...certificates), expected, title)
  const { certificates } = planOf([], {
    certificates: [
      { hosts: ['b.com', 'a.com', 'A.com'], secretName: 'z', ...pem },
      { hosts: [], secretName: 'y', ...pem },
    ],
  })
  t.strictSame(
    certificates.map(({ hosts, secretName }) => [secretName, ...hosts]),
    [['y'], ['z', 'a.com', 'b.com']],
  )
  t.notOk(coversHost(['*.example.com'], 'example.com'))
  t.notOk(coversHost(['shop.example.com'], '*.example.com'))
})

t.test('upstreams', async (t) => {
  const upstream = (
    pools: PoolsByCluster,
    port: Parameters<typeof buildPort>[1] = {},
    settings: Partial<RouteSettings> = {},
  ) => {
    const ingress = buildIngress({ spec: { defaultBackend: to('web') } })
    const backends = buildBackends({ web: [buildPort(pools, port)] })
    const [planned] = planIngressRoutes(ingress, backends, [], { ...SETTINGS, ...settings }).upstreams
    const servers = (planned?.servers ?? []).map(
      ({ address, cluster, port, weight }) => `${address}:${port} ${cluster} ${weight}`,
    )
    return [planned?.key, planned?.protocol, planned?.state, ...servers]
  }
  t.strictSame(
    upstream({ west: ['10.65.0.11:80'], east: ['10.64.0.12:81', '10.64.0.12:80!'] }),
    ['web:80', 'http', 'serving', '10.64.0.12:80 east 0', '10.64.0.12:81 east 1', '10.65.0.11:80 west 1'],
    'by address; what drains has no weight',
  )
  t.strictSame(
    upstream(
      { east: ['10.64.0.1:80', '10.64.0.2:80'], west: ['10.65.0.1:80'], south: ['10.66.0.1:80'] },
      {},
      {
        clusterWeights: { east: 6, west: 1, south: 0 },
      },
    ),
    [
      'web:80',
      'http',
      'serving',
      '10.64.0.1:80 east 3',
      '10.64.0.2:80 east 3',
      '10.65.0.1:80 west 1',
      '10.66.0.1:80 south 0',
    ],
  )
  t.strictSame(
    upstream(
      { east: ['10.64.0.1:80', '10.64.0.2:80!'], west: 'blocked', south: 'held' },
      { appProtocol: 'kubernetes.io/h2c' },
    ),
    ['web:80', 'h2c', 'serving', '10.64.0.1:80 east 1', '10.64.0.2:80 east 0'],
  )
  t.strictSame(upstream({ east: 'blocked' }), ['web:80', 'http', 'empty'])
  t.strictSame(upstream({}, { state: 'held' }), ['web:80', 'http', 'held'], 'nothing is remembered: keep')
  t.strictSame(upstream({}, { state: 'serving' }), ['web:80', 'http', 'empty'], 'a DNS name is nobody’s server')
  t.strictSame(upstream({}, { appProtocol: 'HTTPS' }), ['web:80', 'https', 'empty'])
  t.strictSame(upstream({}, { appProtocol: 'kubernetes.io/wss' }), ['web:80', 'https', 'empty'])
  t.strictSame(upstream({}, { appProtocol: 'https' }, { backendProtocol: 'http' }), ['web:80', 'http', 'empty'])

  const byName = { service: { name: 'web', port: { name: 'http' } } }
  const ingress = buildIngress({
    spec: { defaultBackend: to('web'), rules: [{ http: { paths: [{ path: '/', backend: byName }] } }] },
  })
  const named = planIngressRoutes(ingress, buildBackends({ web: [buildPort({}, { name: 'http' })] }), [], SETTINGS)
  t.match([named.routes[0]?.upstream, named.defaultUpstream, named.upstreams.length], ['web:80', 'web:80', 1])

  const hostile = buildIngress({ spec: { defaultBackend: to('web\n  bind *:1') } })
  const refused = planIngressRoutes(hostile, buildBackends({ 'web\n  bind *:1': [buildPort({})] }), [], SETTINGS)
  t.match([refused.upstreams, refused.defaultUpstream], [[], undefined])
})

t.test('listeners of a MultiClusterService', async (t) => {
  const plan = (...ports: PortBackend[]) =>
    planListeners(buildService(), buildBackends({ game: ports, other: [buildPort({}, { port: 7 })] }), {
      ...listenerSettings({ clusterWeights: { east: 2 } }),
    })
  const game = buildPort({ west: ['10.65.0.1:90'], east: ['10.64.0.1:90'] }, { port: 90, name: 'game' })
  const { plan: planned, findings } = plan(
    game,
    buildPort({}, { port: 80, state: 'held' }),
    buildPort({}, { port: 81 }),
  )
  t.strictSame(planned.listeners, [
    { port: 80, name: '', state: 'held', servers: [] },
    { port: 81, name: '', state: 'empty', servers: [] },
    {
      port: 90,
      name: 'game',
      state: 'serving',
      servers: [
        { address: '10.64.0.1', port: 90, cluster: 'east', weight: 2 },
        { address: '10.65.0.1', port: 90, cluster: 'west', weight: 1 },
      ],
    },
  ])
  t.strictSame(findings, [])
  t.strictSame(plan(game, buildPort({}, { port: 53, protocol: 'UDP' })).findings, [
    {
      field: 'spec.ports',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 53: UDP cannot be balanced here; name ports in spec.ports that are TCP only',
    },
  ])
  const { port: _, ...nameless } = buildPort({}, { name: 'gone' })
  t.strictSame(plan(nameless).plan.listeners, [], 'no number, no listener')
})

const HOST = fc.constantFrom('', 'a.com', 'b.com', '*.com', '*.a.com', 'x.a.com')
const PATH = fc.array(fc.constantFrom('a', 'b', 'aa'), { maxLength: 3 }).map((elements) => `/${elements.join('/')}`)
const ROUTE: fc.Arbitrary<PlannedRoute> = fc.record({
  host: HOST,
  match: fc.constantFrom('Exact' as const, 'Prefix' as const),
  path: PATH,
  tls: fc.boolean(),
})

t.test('the order of routes is total, and the first that matches is the one', async () => {
  fc.assert(
    fc.property(fc.array(ROUTE, { minLength: 1, maxLength: 12 }), HOST, PATH, (routes, host, requested) => {
      const ordered = routes.toSorted(compareRoutes)
      const turned = routes.toReversed().sort(compareRoutes)
      const text = ({ host, match, path }: PlannedRoute) => `${match} ${host}${path}`
      if (ordered.map(text).join() !== turned.map(text).join()) return false
      const name = host.replace('*', 'any')
      const match = matchRoute([{ routes }], name, requested)
      const hosts = [name, name.replace(/^[^.]+/, '*'), '']
      const decisive = hosts.find((candidate) => routes.some((route) => route.host === candidate))
      const elements = (path: string) => path.split('/').filter((element) => element !== '')
      const first = ordered.find(
        (route) =>
          route.host === decisive &&
          (route.match === 'Exact'
            ? route.path === requested
            : elements(route.path).every((element, index) => elements(requested)[index] === element)),
      )
      return match.kind === 'route' ? first !== undefined && text(match.route) === text(first) : first === undefined
    }),
  )
})

const CLUSTERS = fc.uniqueArray(
  fc.record({ cluster: fc.constantFrom('c1', 'c2', 'c3', 'c4', 'c5'), endpoints: fc.integer({ min: 1, max: 300 }) }),
  { selector: ({ cluster }) => cluster, minLength: 1 },
)
const WEIGHTS = fc.dictionary(fc.constantFrom('c1', 'c2', 'c3', 'c4', 'c5'), fc.integer({ min: 0, max: 256 }))

t.test('weights of servers', async (t) => {
  const rows: [string, Record<string, number>, Record<string, number> | undefined, Record<string, number[]>][] = [
    ['not asked for: all equal', { a: 3, b: 1 }, undefined, { a: [1, 1, 1], b: [1] }],
    ['small numbers where they do', { a: 1, b: 1 }, { a: 3, b: 1 }, { a: [3], b: [1] }],
    ['shared, whatever the number', { a: 3, b: 2 }, { a: 3, b: 1 }, { a: [2, 2, 2], b: [1, 1] }],
    ['one of five, one alone', { a: 5, b: 1 }, { a: 1, b: 1 }, { a: [1, 1, 1, 1, 1], b: [5] }],
    ['who is not named has 1', { a: 1, b: 1 }, { a: 2 }, { a: [2], b: [1] }],
    ['0: nothing new', { a: 2, b: 1 }, { a: 0, b: 1 }, { a: [0, 0], b: [1] }],
    ['0 for all', { a: 2 }, { a: 0 }, { a: [0, 0] }],
    ['no endpoints at all', {}, { a: 3 }, {}],
    ['named like a method', { toString: 1 }, {}, { toString: [1] }],
  ]
  for (const [title, endpoints, asked, expected] of rows) {
    const clusters = Object.entries(endpoints).map(([cluster, count]) => ({ cluster, endpoints: count }))
    t.strictSame(Object.fromEntries(serverWeights(clusters, asked)), expected, title)
  }
})

t.test('the share of a cluster is off by no more than is said', async () => {
  const weightOf = ({ cluster }: WeightedCluster, asked: Record<string, number>) => asked[cluster] ?? 1
  fc.assert(
    fc.property(CLUSTERS, WEIGHTS, (clusters, asked) => {
      const weights = serverWeights(clusters, asked)
      const totals = clusters.map(({ cluster }) =>
        (weights.get(cluster) ?? []).reduce((sum, weight) => sum + weight, 0),
      )
      const [given, wanted] = [totals, clusters.map((each) => weightOf(each, asked))].map((all) =>
        all.reduce((sum, each) => sum + each, 0),
      )
      const needs = clusters.map((each) => weightOf(each, asked) / each.endpoints).filter((need) => need > 0)
      const isReachable = needs.length > 0 && Math.max(...needs) / Math.min(...needs) <= 256
      return clusters.every((each, index) => {
        const own = weights.get(each.cluster) ?? []
        const isZero = weightOf(each, asked) === 0
        const fits = own.every((weight) => (isZero ? weight === 0 : weight >= 1 && weight <= 256))
        const isFair = own.length === each.endpoints && Math.max(...own) - Math.min(...own) <= 1
        const error = Math.abs((totals[index] ?? 0) / (given || 1) - weightOf(each, asked) / (wanted || 1))
        return fits && isFair && (!isReachable || error <= clusters.length / 512)
      })
    }),
  )
})
