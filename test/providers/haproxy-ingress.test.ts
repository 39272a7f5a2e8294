import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request as plainRequest } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { createServer as createTlsServer, request as tlsRequest } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Backends, PortBackend } from '../../src/domain/backends/backends.ts'
import type { Certificate } from '../../src/domain/backends/resolve-certificates.ts'
import { ANNOTATION_PREFIX } from '../../src/domain/balancer-annotations/parse-annotations.ts'
import type { IngressPath, MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { matchRoute } from '../../src/domain/routing/match-route.ts'
import { planIngressRoutes } from '../../src/domain/routing/plan-ingress-routes.ts'
import { routeSettings } from '../../src/domain/routing/route-settings.ts'
import type { LoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import { examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { buildBackends, buildPort } from '../support/build-backends.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createTestHaproxy, haproxyMissing, type TestHaproxy } from '../support/haproxy.ts'
import { describeRow, ingressOfRow, PATH_TABLE, serviceOfRow } from '../support/path-table.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { createTestAuthority } from '../support/test-authority.ts'

// Layer 7 through a real HAProxy on addresses of this machine.

t.setTimeout(240_000)

const missing = haproxyMissing(process.env)
const real = { timeout: 120_000, ...(missing === undefined ? {} : { skip: missing }) }
const LISTEN = '127.84.0.1'

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
  /** What a pod was asked; of those that answer in JSON. */
  seen: { server?: string; path?: string; headers?: Record<string, string | undefined> }
  /** Of the certificate that was shown. */
  commonName?: string
}

interface World {
  haproxy: TestHaproxy
  balancer: LoadBalancer
  /** A pod that tells what it was asked; answers its `address:port`. */
  pod(name: string, kind?: 'http' | 'https' | 'h2c'): Promise<string>
  ensure(
    ingress: MultiClusterIngress,
    backends: Backends,
    certificates?: Certificate[],
  ): ReturnType<LoadBalancer['ensureLoadBalancer']>
  remove(ingress: MultiClusterIngress): Promise<void>
}

let turns = 0

async function world(t: Test): Promise<World> {
  const haproxy = createTestHaproxy({ addresses: [LISTEN, '127.84.0.2', '127.84.0.3'] })
  const pods: Server[] = []
  t.teardown(async () => {
    await haproxy.close()
    for (const pod of pods) pod.close()
  })
  const { loadBalancer: balancer } = haproxy.provider()
  if (balancer === undefined) throw new Error('it balances nothing')
  const ensure: World['ensure'] = (ingress, backends, certificates = []) =>
    balancer.ensureLoadBalancer(ingress, contextOf(ingress, backends, certificates))
  // The first call finds no HAProxy and leaves what one can start from.
  await t.rejects(ensure(buildIngress(), buildBackends({})))
  await haproxy.start()
  return {
    haproxy,
    balancer,
    ensure,
    remove: (ingress) => balancer.ensureLoadBalancerDeleted(ingress, contextOf(ingress, { services: [] }, [])),
    async pod(name, kind = 'http') {
      const tls =
        kind === 'https'
          ? await (await createTestAuthority()).issue({ commonNames: [name], usage: 'server' })
          : undefined
      const answer: Parameters<typeof createServer>[1] = (request, response) => {
        const { url: path, headers } = request
        const end = () => response.end(JSON.stringify({ server: name, path, headers }))
        request.resume().on('end', () => (path === '/slow' ? setTimeout(end, 1_000) : end()))
      }
      const server =
        tls !== undefined
          ? createTlsServer(tls, answer)
          : kind === 'h2c'
            ? createHttp2Server((request, response) => {
                response.end(JSON.stringify({ server: name, path: request.url }))
              })
            : createServer(answer)
      await new Promise<void>((resolve) => server.listen(0, '127.84.1.1', resolve))
      pods.push(server)
      return `127.84.1.1:${(server.address() as AddressInfo).port}`
    },
  }
}

function contextOf(ingress: MultiClusterIngress, backends: Backends, certificates: Certificate[]): ProviderContext {
  const { namespace = '', name, uid = `uid-${name}` } = ingress.metadata
  turns += 1
  return {
    signal: AbortSignal.timeout(60_000),
    logger: silentLogger,
    identity: { clusterId: 'test', kind: 'MultiClusterIngress', namespace, name, uid },
    fence: `${turns}`,
    fingerprint: `f${turns}`,
    backends,
    certificates,
  }
}

interface Asked {
  method?: string
  headers?: Record<string, string>
  body?: string | string[]
  /** For SNI; then it is HTTPS. `''` asks for no name. */
  servername?: string
  /** Whose connections are used again; a new one each time without. */
  agent?: Agent
}

/** `shop.example.com/cart` */
function ask(
  hostAndPath: string,
  { method = 'GET', headers = {}, body = [], servername, agent }: Asked = {},
): Promise<Answer> {
  const slash = hostAndPath.indexOf('/')
  const common = {
    host: LISTEN,
    path: hostAndPath.slice(slash),
    method,
    headers: { Host: hostAndPath.slice(0, slash), ...headers },
    agent: agent ?? (false as const),
  }
  return new Promise((resolve, reject) => {
    const sent =
      servername === undefined
        ? plainRequest(common)
        : tlsRequest({ ...common, port: 443, servername, rejectUnauthorized: false })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const certificate = response.socket instanceof TLSSocket ? response.socket.getPeerCertificate() : undefined
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: text,
        seen: text.startsWith('{') ? (JSON.parse(text) as Answer['seen']) : {},
        ...(certificate === undefined ? {} : { commonName: String(certificate.subject?.CN) }),
      })
    })
    // In parts: without a length.
    if (Array.isArray(body)) for (const part of body) sent.write(part)
    else sent.write(body)
    sent.end()
  })
}

/** A request of HTTP/2, and its status. */
function askHttp2(host: string, method: string, body?: string): Promise<number> {
  const session = connectHttp2(`http://${LISTEN}`)
  return new Promise<number>((resolve, reject) => {
    session.once('error', reject)
    const stream = session.request(
      { ':method': method, ':path': '/', ':authority': host },
      { endStream: body === undefined },
    )
    stream.once('error', reject)
    stream.once('response', (headers) => resolve(headers[':status'] ?? 0))
    if (body !== undefined) stream.end(body)
  }).finally(() => session.destroy())
}

const annotations = (short: Record<string, string>) =>
  Object.fromEntries(Object.entries(short).map(([key, text]) => [ANNOTATION_PREFIX + key, text]))

const to = (name: string) => ({ service: { name, port: { number: 80 } } })
const prefix = (path: string, service = 'web'): IngressPath => ({ path, pathType: 'Prefix', backend: to(service) })
const exact = (path: string, service = 'web'): IngressPath => ({ path, pathType: 'Exact', backend: to(service) })

function shop(
  rules: Record<string, IngressPath[]>,
  short: Record<string, string> = {},
  name = 'storefront',
): MultiClusterIngress {
  return buildIngress({
    metadata: { name, annotations: annotations(short) },
    spec: { rules: Object.entries(rules).map(([host, paths]) => ({ ...(host && { host }), http: { paths } })) },
  })
}

const serving = (...addresses: string[]): PortBackend[] => [buildPort({ member1: addresses })]

t.test('the path table, without a reload', real, async (t) => {
  const { haproxy, ensure, pod } = await world(t)
  const names = ['s0', 's1', 's2', 'fallback']
  const pods = await Promise.all(names.map((name) => pod(name)))
  const backends = buildBackends(Object.fromEntries(names.map((name, index) => [name, serving(pods[index] ?? '')])))
  // So that there is a backend for each of them from the beginning.
  const known = { host: 'known.example.com', http: { paths: names.map((name) => prefix(`/${name}`, name)) } }
  const withKnown = ({ spec, ...ingress }: MultiClusterIngress) => ({
    ...ingress,
    spec: { ...spec, rules: [...(spec?.rules ?? []), known] },
  })
  await ensure(withKnown(buildIngress({ spec: { defaultBackend: to('fallback') } })), backends)
  const before = await haproxy.reloads()
  for (const row of PATH_TABLE) {
    await ensure(withKnown(ingressOfRow(row)), backends)
    const { seen, status } = await ask(`${row.host}${row.path}`)
    t.equal(seen.server ?? status, serviceOfRow(row), describeRow(row))
    t.equal(seen.path, row.path)
  }
  t.equal(await haproxy.reloads(), before)
})

t.test('objects that share an address, as the reference says', real, async (t) => {
  const { ensure, remove, pod } = await world(t)
  const names = ['a', 'b', 'c']
  const backends = buildBackends(
    Object.fromEntries(await Promise.all(names.map(async (name) => [name, serving(await pod(name))] as const))),
  )
  const hosts = ['', 'x.com', 'y.com', '*.com', 'z.x.com', '*.x.com']
  const paths = ['/', '/p', '/p/q', '/p/q/', '/pq', '/q']
  const rule = fc.record({
    host: fc.constantFrom(...hosts),
    path: fc.constantFrom(...paths),
    pathType: fc.constantFrom('Exact', 'Prefix'),
  })
  const objects = fc.tuple(
    fc.array(rule, { maxLength: 4 }),
    fc.array(rule, { maxLength: 4 }),
    fc.array(rule, { maxLength: 4 }),
  )
  await fc.assert(
    fc.asyncProperty(objects, fc.boolean(), async (ruleSets, hasDefault) => {
      const ingresses = ruleSets.map((rules, index) =>
        buildIngress({
          metadata: { name: names[index] ?? '' },
          spec: {
            // Any host is one object's matter.
            ...(hasDefault && index === 0 ? { defaultBackend: to('a') } : {}),
            rules: rules
              .filter(({ host }) => host !== '' || index === 0)
              .map(({ host, ...path }) => ({
                ...(host && { host }),
                http: { paths: [{ ...path, backend: to(names[index] ?? '') }] },
              })),
          },
        }),
      )
      await Promise.all(ingresses.map((ingress) => ensure(ingress, backends)))
      // Names of proxies are in this order.
      const plans = ingresses.map((ingress) => planIngressRoutes(ingress, backends, [], routeSettings({})))
      for (const host of ['x.com', 'y.com', 'w.com', 'z.x.com', 'w.x.com', 'v.w.x.com', 'com']) {
        for (const path of [...paths, '/r', '/p/q/r']) {
          const match = matchRoute(plans, host, path)
          const upstream =
            match.kind === 'route' ? match.route.upstream : match.kind === 'default' ? match.upstream : '404:'
          const { seen, status } = await ask(`${host}${path}`)
          if ((seen.server ?? `${status}`) !== upstream?.split(':')[0]) {
            throw new Error(`${host}${path}: ${seen.server ?? status} instead of ${upstream}`)
          }
        }
      }
    }),
    { numRuns: 6 },
  )
  for (const name of names) await remove(buildIngress({ metadata: { name } }))
  await t.rejects(ask('x.com/'), 'nobody listens any more')
})

t.test('what annotations ask for', real, async (t) => {
  const { ensure, pod } = await world(t)
  const backends = buildBackends({ web: serving(await pod('web')), api: serving(await pod('api')) })
  const rules = { 'a.com': [prefix('/'), prefix('/api', 'api'), exact('/exact', 'api')], 'b.com': [prefix('/x y')] }
  await t.rejects(ensure(shop(rules), backends), /paths\[0\]\.path: Invalid value: "\/x y"/)
  await t.rejects(ensure(shop({ 'a.com': [prefix('/')] }, { affinities: 'cookie' }), backends), /check the spelling/)

  const good = { 'a.com': rules['a.com'] }
  const rewritten: [string, string, string][] = [
    ['/v2', '/api', '/v2'],
    ['/v2', '/api/', '/v2/'],
    ['/v2', '/api/users?q=/api', '/v2/users?q=/api'],
    ['/v2', '/exact', '/v2'],
    ['/v2', '/', '/v2/'],
    ['/v2', '/other', '/v2/other'],
    ['/v2/', '/api', '/v2/'],
    ['/v2/', '/api/users', '/v2/users'],
    ['/', '/api', '/'],
    ['/', '/api/users', '/users'],
    ['/caf%C3%A9', '/api/a%20b', '/caf%C3%A9/a%20b'],
  ]
  for (const [target, asked, expected] of rewritten) {
    await ensure(shop(good, { 'rewrite-target': target }), backends)
    t.equal((await ask(`a.com${asked}`)).seen.path, expected, `${target}: ${asked}`)
  }

  await ensure(
    shop(good, {
      'request-headers': "X-One: it's a #1; b=[c]\nX-Gone:",
      'response-headers': "Content-Security-Policy: default-src 'self'\nServer:",
      'request-body-limit': '10',
    }),
    backends,
  )
  const { seen, headers } = await ask('a.com/', { headers: { 'X-Gone': 'x', 'X-Forwarded-For': '192.0.2.1' } })
  t.match(seen.headers, {
    'x-one': "it's a #1; b=[c]",
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-proto': 'http',
    'x-forwarded-host': 'a.com',
  })
  t.equal(seen.headers?.['x-gone'], undefined)
  t.equal(headers['content-security-policy'], "default-src 'self'")
  const post = (body: string | string[], more: Record<string, string> = {}) =>
    ask('a.com/', { method: 'POST', body, headers: more })
  t.equal((await post('0123456789', { 'Content-Length': '10' })).status, 200)
  t.equal((await post('01234567890', { 'Content-Length': '11' })).status, 413)
  t.equal((await post('', { 'Content-Length': `${2 ** 32 + 1}` })).status, 413, 'more than 32 bits')
  t.equal((await post(['01', '2'])).status, 411)
  t.equal(await askHttp2('a.com', 'POST', '01234'), 411, 'HTTP/2 without a length')
  t.equal(await askHttp2('a.com', 'GET'), 200)

  await ensure(shop(good), backends)
  t.equal((await ask('b.com/')).status, 404)
  t.equal((await ask('a.com/', { method: 'POST', body: ['01234567890', '1'] })).status, 200, 'no limit any more')
  await ensure(
    shop({ 'a.com': [prefix('/gone', 'gone')], 'b.com': [prefix('/', 'none')] }),
    buildBackends({ none: [buildPort({})] }),
  )
  t.equal((await ask('a.com/gone')).status, 503, 'no such Service')
  t.equal((await ask('b.com/')).status, 503, 'a Service without endpoints')
})

t.test('servers, weights and sessions, without a reload', real, async (t) => {
  const { haproxy, ensure, pod } = await world(t)
  const [one, two, three] = [await pod('one'), await pod('two'), await pod('three')]
  const rules = { 'a.com': [prefix('/')] }
  const pools = (member1: string[], member2: string[]) => buildBackends({ web: [buildPort({ member1, member2 })] })
  const counts = async (requests = 80) => {
    const by: Record<string, number> = {}
    for (let left = requests; left > 0; left -= 1) {
      const { seen, status } = await ask('a.com/')
      by[seen.server ?? status] = (by[seen.server ?? status] ?? 0) + 1
    }
    return by
  }
  await ensure(shop(rules, { 'cluster-weights': 'member1=3,member2=1' }), pools([one], [two]))
  const before = await haproxy.reloads()
  t.strictSame(await counts(), { one: 60, two: 20 })
  const moved = await ensure(shop(rules, { 'cluster-weights': 'member1=1,member2=1' }), pools([one], [two, three]))
  t.equal(moved.changed, true)
  t.strictSame(await counts(), { one: 40, two: 20, three: 20 })
  await ensure(shop(rules, { 'cluster-weights': 'member2=0' }), pools([one], [two, three]))
  t.strictSame(await counts(), { one: 80 })
  const same = await ensure(shop(rules, { 'cluster-weights': 'member2=0' }), pools([one], [two, three]))
  t.equal(same.changed, false)
  await ensure(shop(rules), pools([`${one}!`, two], []))
  t.strictSame(await counts(), { two: 80 }, 'what drains gets nothing new')
  t.equal(await haproxy.reloads(), before)

  await ensure(shop(rules, { affinity: 'cookie' }), pools([one], [two]))
  const reloaded = await haproxy.reloads()
  await ensure(shop(rules, { affinity: 'cookie' }), pools([one], [two, three]))
  t.equal(await haproxy.reloads(), reloaded)
  const servers = new Set<string>()
  for (let left = 12; left > 0; left -= 1) {
    const first = await ask('a.com/')
    const [cookie = ''] = [first.headers['set-cookie'] ?? []].flat().map((text) => text.split(';')[0] ?? '')
    t.match(cookie, /^wcp-server=[0-9a-f]{16}$/)
    const again = await Promise.all([1, 2, 3].map(() => ask('a.com/', { headers: { Cookie: cookie } })))
    t.ok(again.every(({ seen }) => seen.server === first.seen.server))
    servers.add(first.seen.server ?? '')
  }
  t.equal(servers.size, 3, 'an added server has a cookie too')

  const first = await ask('a.com/')
  const headers = { Cookie: `${first.headers['set-cookie']}`.split(';')[0] ?? '' }
  const slow = ask('a.com/slow', { headers })
  await ask('a.com/', { headers })
  const left = Object.entries({ one, two, three }).filter(([name]) => name !== first.seen.server)
  await ensure(
    shop(rules, { affinity: 'cookie' }),
    pools(
      left.map(([, address]) => address),
      [],
    ),
  )
  const next = await ask('a.com/', { headers })
  t.not(next.seen.server, first.seen.server, 'who has the cookie of a server that goes is sent elsewhere')
  t.equal((await slow).seen.server, first.seen.server, 'and what was begun is finished')
})

t.test('what clients say is not believed', real, async (t) => {
  const { ensure, pod } = await world(t)
  await ensure(
    shop({ 'a.com': [prefix('/')], '*.b.com': [prefix('/')] }),
    buildBackends({ web: serving(await pod('web')) }),
  )
  for (const [host, status] of [
    ['A.com.:80', 200],
    ['a.com/', 404],
    ['c.com,a.com', 404],
    ['x.b.com', 200],
    ['b.com', 404],
    ['x.y.b.com', 404],
    ['_any', 404],
  ] as const) {
    t.equal((await ask('a.com/', { headers: { Host: host } })).status, status, host)
  }
  const said = ['X-Forwarded-For', 'x_forwarded_for', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'Forwarded', 'X-Real-IP']
  const { seen } = await ask('a.com/', { headers: Object.fromEntries(said.map((name) => [name, 'forged'])) })
  t.equal(seen.headers?.['x-forwarded-for'], '127.0.0.1')
  t.notOk(Object.values(seen.headers ?? {}).includes('forged'), JSON.stringify(seen.headers))
  const upgraded = await ask('a.com/', { headers: { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' } })
  t.equal(upgraded.seen.headers?.['upgrade'], undefined, 'no tunnel past the routes')
})

t.test('HTTPS towards clients, without a reload for hosts and certificates', real, async (t) => {
  const { haproxy, ensure, pod } = await world(t)
  const authority = await createTestAuthority()
  const certificate = async (commonName: string, hosts: string[], secretName: string): Promise<Certificate> => {
    const { cert, key } = await authority.issue({ commonNames: [commonName], usage: 'server' })
    return { hosts, secretName, certificate: cert, key }
  }
  const backends = buildBackends({ web: serving(await pod('web')) })
  const rules = { 'a.com': [prefix('/')], 'b.a.com': [prefix('/')], 'plain.com': [prefix('/')] }
  const [first, wild] = [await certificate('first', ['a.com'], 'one'), await certificate('wild', ['*.a.com'], 'wild')]
  const redirected = { 'redirect-http-to-https': 'true', 'redirect-status': '307' }
  await ensure(shop(rules, redirected), backends, [first])
  const before = await haproxy.reloads()
  t.match(await ask('a.com/x?y=1'), { status: 307, headers: { location: 'https://a.com/x?y=1' } })
  t.match(await ask('plain.com/'), { status: 200 })
  t.match(await ask('a.com/', { servername: 'a.com' }), {
    status: 200,
    commonName: 'first',
    seen: { headers: { 'x-forwarded-proto': 'https' } },
  })
  await t.rejects(ask('b.a.com/', { servername: 'b.a.com' }), 'a name that no certificate is for')

  await ensure(shop(rules, redirected), backends, [first, wild])
  t.match(await ask('b.a.com/', { servername: 'b.a.com' }), { status: 200, commonName: 'wild' })
  t.equal((await ask('b.a.com/')).status, 307)
  await ensure(shop(rules, redirected), backends, [await certificate('second', ['a.com'], 'one'), wild])
  t.match(await ask('a.com/', { servername: 'a.com' }), { commonName: 'second' }, 'another certificate in the Secret')
  await ensure(shop(rules, redirected), backends, [wild])
  await t.rejects(ask('a.com/', { servername: 'a.com' }), 'a certificate that is gone')
  t.equal(await haproxy.reloads(), before)

  const names = Array.from({ length: 200 }, (_, index) => `${'h'.repeat(60)}.${'x'.repeat(30)}${index}.example.com`)
  const many = await certificate('many', [...names, 'a.com'], 'many')
  await ensure(shop(rules, redirected), backends, [many])
  t.match(await ask('a.com/', { servername: 'a.com' }), { commonName: 'many' })
  t.equal((await ensure(shop(rules, redirected), backends, [many])).changed, false, 'many names')
  t.equal(await haproxy.reloads(), before)
  const long = await certificate('long', ['a.com'], 'many')
  const chain = Array.from({ length: 40 }, () => long.certificate?.trim()).join('\n')
  await ensure(shop(rules, redirected), backends, [{ ...long, certificate: chain }])
  t.match(await ask('a.com/', { servername: 'a.com' }), { commonName: 'long' }, 'longer than what fits a command')
  t.equal(await haproxy.reloads(), before + 1)

  await ensure(shop(rules), backends, [wild, await certificate('all', [], 'all')])
  t.match(await ask('other.com/', { servername: 'other.com' }), { commonName: 'all' })
  t.match(await ask('plain.com/', { servername: '' }), { commonName: 'all', status: 200 })
  t.match(await ask('b.a.com/', { servername: 'b.a.com' }), { commonName: 'wild' })

  const faults: [Certificate, RegExp][] = [
    [{ ...first, certificate: first.key ?? '' }, /secret shop\/one: the certificate is no PEM/],
    [{ ...first, key: first.certificate ?? '' }, /secret shop\/one: the key is no PEM of a private key/],
    [{ ...first, key: wild.key ?? '' }, /secret shop\/one: the key is not that of the certificate/],
  ]
  for (const [bad, message] of faults) {
    await t.rejects(ensure(shop(rules), backends, [bad]), { kind: 'Terminal', message })
  }
  t.match(await ask('b.a.com/', { servername: 'b.a.com' }), { commonName: 'wild' }, 'what served serves')
  await ensure(shop(rules), backends, [])
  await t.rejects(ask('a.com/', { servername: 'a.com' }), 'nobody listens')
})

t.test('HTTPS and HTTP/2 towards pods', real, async (t) => {
  const { ensure, pod } = await world(t)
  const port = async (name: string, kind: 'https' | 'h2c', appProtocol: string) => [
    buildPort({ member1: [await pod(name, kind)] }, { appProtocol }),
  ]
  const backends = buildBackends({
    secure: await port('secure', 'https', 'https'),
    stream: await port('stream', 'h2c', 'kubernetes.io/h2c'),
  })
  await ensure(shop({ 'a.com': [prefix('/', 'secure'), prefix('/stream', 'stream')] }), backends)
  t.equal((await ask('a.com/')).seen.server, 'secure')
  t.equal((await ask('a.com/stream')).seen.server, 'stream')
})

t.test('a pod that answers no more', real, async (t) => {
  const { ensure, pod } = await world(t)
  const gone = '127.84.1.2:9'
  const backends = buildBackends({ web: serving(await pod('one'), gone) })
  await ensure(shop({ 'a.com': [prefix('/')] }), backends)
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask('a.com/')))
  t.ok(
    answers.every(({ status }) => status === 200),
    'another is asked',
  )
})

t.test('a pool that is held keeps what it served', real, async (t) => {
  const { ensure, pod } = await world(t)
  await ensure(shop({ 'a.com': [prefix('/')] }), buildBackends({ web: serving(await pod('one')) }))
  await ensure(shop({ 'a.com': [prefix('/')] }), buildBackends({ web: [buildPort({}, { state: 'held' })] }))
  t.equal((await ask('a.com/')).status, 200)
  await ensure(shop({ 'a.com': [prefix('/')] }), buildBackends({ web: [buildPort({})] }))
  t.equal((await ask('a.com/')).status, 503)
})

t.test('files that cannot be written, or were spoiled, leave what serves as it is', real, async (t) => {
  const { haproxy, ensure, pod } = await world(t)
  const backends = buildBackends({ web: serving(await pod('web')) })
  await ensure(shop({ 'a.com': [prefix('/')] }), backends)
  const files = () =>
    readdirSync(haproxy.stateDirectory, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile() && !each.name.endsWith('.new') && each.name !== 'lock')
      .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name), 'utf8')])
  const before = files()
  // In the place of what is written last.
  mkdirSync(`${haproxy.file}.new`)
  const wanted = shop({ 'a.com': [prefix('/')], 'b.com': [prefix('/')] }, { 'response-timeout': '7' })
  await t.rejects(ensure(wanted, backends), /haproxy\.cfg\.new/)
  t.strictSame(files(), before, 'what was written before is put back')
  rmdirSync(`${haproxy.file}.new`)
  await ensure(wanted, backends)
  t.equal((await ask('b.com/')).status, 200)

  const [record = ''] = readdirSync(join(haproxy.stateDirectory, 'records'))
  writeFileSync(join(haproxy.stateDirectory, 'keys', record), '-----BEGIN PRIVATE KEY-----')
  const spoiled = await ensure(shop({ 'a.com': [prefix('/')] }), backends).then(String, String)
  t.match(spoiled, new RegExp(`keys/${record} is no JSON`))
  t.notMatch(spoiled, 'BEGIN')
})

t.test('what leads nowhere takes no port', real, async (t) => {
  const { haproxy, ensure, balancer } = await world(t)
  const nowhere = buildIngress({ spec: { defaultBackend: { resource: { kind: 'Bucket', name: 'static' } } } })
  t.match(await ensure(nowhere, buildBackends({})), { status: { ingress: [{ ip: LISTEN }] } })
  t.notMatch(haproxy.configuration(), LISTEN)
  t.match(await balancer.getLoadBalancer(nowhere, contextOf(nowhere, { services: [] }, [])), {
    status: {},
    fingerprint: String,
  })
})

t.test('two defaults go to two addresses, and a third where there is none to a conflict', real, async (t) => {
  const { ensure } = await world(t)
  const backends = buildBackends({ web: [buildPort({})] })
  const object = (name: string) => buildIngress({ metadata: { name } })
  for (const [name, ip] of [
    ['a', LISTEN],
    ['b', '127.84.0.2'],
    ['c', '127.84.0.3'],
  ] as const) {
    t.match(await ensure(object(name), backends), { status: { ingress: [{ ip }] } })
  }
  await t.rejects(
    ensure(object('d'), backends),
    /requests for any host on port 80 of 127.84.0.1 go to MultiClusterIngress shop\/a/,
  )
  t.match(await ensure(object('b'), backends), { status: { ingress: [{ ip: '127.84.0.2' }] }, changed: false })
})

/** Twenty clients that ask as often as they can, by connections that stay or, with TLS, by new ones; counts what is not as it has to be. */
async function underLoad(
  target: string,
  expected: (answer: Answer) => boolean,
  change: () => Promise<void>,
  how: Asked = {},
) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  const faults: string[] = []
  let asked = 0
  let stopped = false
  const client = async () => {
    while (!stopped) {
      asked += 1
      try {
        const answer = await ask(target, how.servername === undefined ? { agent, ...how } : how)
        if (!expected(answer)) faults.push(`${answer.status} ${answer.body.slice(0, 80)}`)
      } catch (error) {
        faults.push(String(error))
      }
    }
  }
  const clients = Array.from({ length: 20 }, client)
  try {
    await change()
  } finally {
    stopped = true
    await Promise.all(clients)
    agent.destroy()
  }
  return { asked, faults }
}

t.test('no request fails or goes astray while things change', real, async (t) => {
  const { haproxy, ensure, pod } = await world(t)
  const pods = await Promise.all([1, 2, 3, 4, 5].map(() => pod('web')))
  const other = await pod('other')
  const backends = (turn: number) =>
    buildBackends({
      web: serving(...pods.filter((_, index) => index === 0 || (turn >> (index - 1)) % 2 === 0)),
      other: serving(other),
    })
  const isRight = ({ status, seen }: Answer) => status === 200 && seen.server === 'web'
  const rules = { 'a.com': [prefix('/cart')], 'b.com': [prefix('/', 'other')] }
  await ensure(shop(rules), backends(0))
  const before = await haproxy.reloads()

  const endpoints = await underLoad('a.com/cart/1', isRight, async () => {
    for (let turn = 1; turn <= 8; turn += 1) await ensure(shop(rules), backends(turn))
  })
  t.comment(`8 changes of endpoints: ${endpoints.asked} requests, ${endpoints.faults.length} failed`)
  t.strictSame(endpoints.faults, [])

  const maps = await underLoad('a.com/cart/1', isRight, async () => {
    for (let turn = 1; turn <= 3; turn += 1) {
      // Around the one that is asked for: before it, behind it, and longer and shorter ones.
      const names = Array.from(
        { length: 40 },
        (_, index) => `${String.fromCharCode(97 + ((index * 7 + turn) % 26))}.com`,
      )
      const more = Object.fromEntries(
        names.filter((host) => host !== 'a.com').map((host) => [host, [prefix('/', 'other')]]),
      )
      const paths = [
        prefix('/', 'other'),
        prefix('/cart'),
        prefix(`/cart/1/${turn}`, 'other'),
        exact(`/car${turn}`, 'other'),
      ]
      await ensure(shop({ ...more, ...rules, 'a.com': paths }), backends(0))
    }
  })
  t.comment(`3 changes of hosts and paths: ${maps.asked} requests, ${maps.faults.length} failed`)
  t.strictSame(maps.faults, [])
  t.equal(await haproxy.reloads(), before)

  const authority = await createTestAuthority()
  const secure = async () => {
    const { cert, key } = await authority.issue({ commonNames: ['a.com'], usage: 'server' })
    return [{ hosts: ['a.com'], secretName: 'one', certificate: cert, key }]
  }
  await ensure(shop(rules), backends(0), await secure())
  const opened = await haproxy.reloads()
  const rotations = await underLoad(
    'a.com/cart/1',
    isRight,
    async () => {
      for (let turn = 1; turn <= 3; turn += 1) await ensure(shop(rules), backends(0), await secure())
    },
    { servername: 'a.com' },
  )
  t.comment(`3 certificates: ${rotations.asked} handshakes and requests, ${rotations.faults.length} failed`)
  t.strictSame(rotations.faults, [])
  t.equal(await haproxy.reloads(), opened)

  const reloads = await underLoad('a.com/cart/1', isRight, async () => {
    for (let turn = 1; turn <= 2; turn += 1) {
      await ensure(shop({ 'a.com': [prefix('/', `new${turn}`)] }, {}, 'another'), backends(0))
      await ensure(shop({ 'a.com': [prefix('/', 'web')] }, { 'response-timeout': `${turn}` }, 'another'), backends(0))
    }
  })
  t.ok((await haproxy.reloads()) > before)
  t.comment(`${(await haproxy.reloads()) - before} reloads: ${reloads.asked} requests, ${reloads.faults.length} failed`)
  t.strictSame(reloads.faults, [])
})

t.test('500 hosts with 20 paths each', real, async (t) => {
  const { haproxy, ensure, pod } = await world(t)
  const backends = buildBackends({ web: serving(await pod('web')), api: serving(await pod('api')) })
  const rules = (hosts: number) =>
    Object.fromEntries(
      Array.from({ length: hosts }, (_, host) => [
        `h${host}.example.com`,
        Array.from({ length: 20 }, (_, path) => prefix(`/p${path}`, path === 19 ? 'api' : 'web')),
      ]),
    )
  const timed = async (hosts: number) => {
    const began = performance.now()
    await ensure(shop(rules(hosts)), backends)
    return Math.round(performance.now() - began)
  }
  const [first, again, one] = [await timed(500), await timed(500), await timed(501)]
  const used = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${await workerOf(haproxy)}/status`, 'utf8'))?.[1]
  t.comment(`10000 routes: ${first} ms, unchanged ${again} ms, one host more ${one} ms; HAProxy has ${used} kB`)
  t.equal((await ask('h0.example.com/p0/x')).seen.server, 'web')
  t.equal((await ask('h500.example.com/p19')).seen.server, 'api')
  t.equal((await ask('h500.example.com/p20')).status, 404)
})

async function workerOf(haproxy: TestHaproxy): Promise<string> {
  return /^Pid: (\d+)$/m.exec(await haproxy.ask('show info'))?.[1] ?? ''
}

t.test('it passes the conformance kit', real, async (t) => {
  const { haproxy } = await world(t)
  const provider = () => {
    const { name, loadBalancer } = haproxy.provider()
    return { name, ...(loadBalancer && { loadBalancer }) }
  }
  const report = await examineProvider({ createProvider: provider, level: 2 })
  t.ok(report.passed, formatReport(report))
  t.equal(report.results.filter(({ outcome }) => outcome === 'skipped').length, 0, formatReport(report))
})
