import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request as plainRequest, type ServerResponse } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { request as tlsRequest } from 'node:https'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import type { Backends } from '../../src/domain/backends/backends.ts'
import type { Certificate } from '../../src/domain/backends/resolve-certificates.ts'
import { ANNOTATION_PREFIX } from '../../src/domain/balancer-annotations/parse-annotations.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import { routeSettings } from '../../src/domain/routing/route-settings.ts'
import type { LoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import type { CaddyOptions } from '../../src/providers/caddy/caddy-options.ts'
import { caddyProviderFactory, createCaddyProvider } from '../../src/providers/caddy/caddy-provider.ts'
import { literal } from '../../src/providers/caddy/literal.ts'
import { renderUpstream } from '../../src/providers/caddy/render-upstream.ts'
import { repeatServers } from '../../src/providers/caddy/repeat-servers.ts'
import { smallestChange } from '../../src/providers/caddy/smallest-change.ts'
import { examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { buildIngress } from '../support/build-objects.ts'
import { type AdminTunnel, caddyMissing, type RunningCaddy, startCaddy, startSecureCaddy } from '../support/caddy.ts'
import { type Echo, type EchoServer, startEchoServer } from '../support/echo-server.ts'
import { freePort } from '../support/free-port.ts'
import { describeRow, ingressOfRow, PATH_TABLE, serviceOfRow } from '../support/path-table.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { createTestAuthority } from '../support/test-authority.ts'

const skip = caddyMissing(process.env)
const real = skip === undefined ? {} : { skip }

/** A real Caddy, backends on loopback addresses, and the provider in front of it. */
interface CaddyWorld {
  caddy: RunningCaddy
  tunnel: AdminTunnel
  /** Requests to Caddy that change something, in their order. */
  changes(): string[]
  echo: EchoServer
  options: CaddyOptions
  balancer: LoadBalancer
  /** Another function beside the first. */
  another(overrides?: Partial<CaddyOptions>): LoadBalancer
  ask(target: string, headers?: Record<string, string>, init?: AskInit): Promise<Answer>
}

interface AskInit {
  method?: string
  body?: string
  /** For SNI; then it is HTTPS. */
  servername?: string
  listen?: string
}

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  echo: Echo
  body: string
  /** Of the certificate that was shown. */
  commonName?: string
}

async function world(t: Test, overrides: Partial<CaddyOptions> = {}): Promise<CaddyWorld> {
  const caddy = await startCaddy()
  const echo = await startEchoServer()
  const tunnel = await caddy.tunnel()
  t.teardown(async () => {
    await tunnel.close()
    await caddy.close()
    await echo.close()
  })
  const options: CaddyOptions = {
    admin: [new URL(tunnel.url)],
    adminTimeoutMs: 10_000,
    addresses: [{ name: 'default', addresses: [{ family: 'IPv4', ip: '192.0.2.1', listen: '127.0.2.1' }] }],
    httpPort: await freePort(),
    httpsPort: await freePort(),
    ...overrides,
  }
  const another = (changes: Partial<CaddyOptions> = {}) => balancerOf({ ...options, ...changes })
  return {
    caddy,
    tunnel,
    changes: () => tunnel.requests.filter((request) => !request.startsWith('GET ')),
    echo,
    options,
    balancer: another(),
    another,
    // A change can reset a connection that is made in the same moment; whoever asks once more is answered.
    ask: (target, headers = {}, init = {}) =>
      ask(options, target, headers, init).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ECONNRESET' || init.servername !== undefined) throw error
        return ask(options, target, headers, init)
      }),
  }
}

function balancerOf(options: CaddyOptions): LoadBalancer {
  const { loadBalancer } = createCaddyProvider(options, { logger: silentLogger, clock: createSystemClock() })
  if (loadBalancer === undefined) throw new Error('it balances nothing')
  return loadBalancer
}

function ask(
  { httpPort, httpsPort }: CaddyOptions,
  target: string,
  headers: Record<string, string>,
  { method = 'GET', body, servername, listen = '127.0.2.1' }: AskInit,
): Promise<Answer> {
  const common = { host: listen, path: target, method, headers, agent: false as const }
  return new Promise((resolve, reject) => {
    const sent =
      servername === undefined
        ? plainRequest({ ...common, port: httpPort })
        : tlsRequest({ ...common, port: httpsPort, servername, rejectUnauthorized: false })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      const certificate = response.socket instanceof TLSSocket ? response.socket.getPeerCertificate() : undefined
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      const isEcho = response.headers['content-type'] === 'application/json'
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: text,
        echo: (isEcho ? JSON.parse(text) : { address: '' }) as Echo,
        ...(certificate === undefined ? {} : { commonName: String(certificate.subject?.CN) }),
      })
    })
    sent.end(body)
  })
}

/** Pods by Service and cluster; an address alone is in cluster `member1`. All Services are in `shop`, on port 80. */
type Pods = Record<string, string[] | Record<string, string[]>>

function backendsOf(port: number, pods: Pods): Backends {
  return {
    services: Object.entries(pods).map(([name, where]) => {
      const pools = Object.entries(Array.isArray(where) ? { member1: where } : where).map(([cluster, addresses]) => ({
        cluster,
        state: addresses.length === 0 ? ('empty' as const) : ('serving' as const),
        endpoints: addresses.map((address) => ({
          address,
          family: address.includes(':') ? ('IPv6' as const) : ('IPv4' as const),
          port,
          ready: true,
          serving: true,
          terminating: false,
          draining: false,
        })),
      }))
      const state = pools.some((pool) => pool.state === 'serving') ? ('serving' as const) : ('empty' as const)
      return { namespace: 'shop', name, ports: [{ port: 80, name: 'http', protocol: 'TCP', pools, state }] }
    }),
  }
}

function contextOf(
  ingress: MultiClusterIngress,
  backends: Backends,
  overrides: Partial<ProviderContext> = {},
): ProviderContext {
  const { namespace = '', name, uid = '' } = ingress.metadata
  return {
    signal: new AbortController().signal,
    logger: silentLogger,
    identity: { clusterId: 'karmada-1', kind: 'MultiClusterIngress', namespace, name, uid },
    fence: '1',
    backends,
    certificates: [] as Certificate[],
    fingerprint: 'one',
    ...overrides,
  }
}

t.test('every row of the path table, as a request', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const services = ['s0', 's1', 's2', 'fallback']
  const backends = backendsOf(
    echo.port,
    Object.fromEntries(services.map((name, index) => [name, [`127.0.1.${index + 1}`]])),
  )
  for (const row of PATH_TABLE) {
    const ingress = ingressOfRow(row)
    await balancer.ensureLoadBalancer(ingress, contextOf(ingress, backends))
    const answer = await ask(row.path, { host: row.host })
    t.equal(answer.echo.address, `127.0.1.${services.indexOf(serviceOfRow(row)) + 1}`, describeRow(row))
    t.equal(answer.echo.url, row.path, 'the path reaches the backend as it came')
  }
})

t.test('paths are compared decoded and cleaned, the longest first', real, async (t) => {
  const { balancer, echo, ask, changes } = await world(t)
  const services = ['root', 'admin', 'short', 'long']
  const object = (paths: Record<string, string>) =>
    shop({}, { rules: Object.entries(paths).map(([path, service]) => ruleOf('shop.example.com', service, path)) })
  const ingress = object({ '/': 'root', '/admin': 'admin', '/%61%61': 'short', '/aa/b': 'long' })
  const backends = backendsOf(
    echo.port,
    Object.fromEntries(services.map((name, index) => [name, [`127.0.1.${index + 1}`]])),
  )
  await balancer.ensureLoadBalancer(ingress, contextOf(ingress, backends))
  const served = async (path: string) =>
    services[Number((await ask(path, { host: 'shop.example.com' })).echo.address.split('.')[3]) - 1]
  for (const path of ['/admin', '/%61dmin/x', '//admin', '/./admin', '/x/..%2fadmin', '/x/%2e%2e/admin', '/admin%2Fx'])
    t.equal(await served(path), 'admin', path)
  for (const path of ['/', '/ADMIN', '/adminx', '/admin;x', '/admin/..', '/admin%00', '/%7Benv.HOME%7D'])
    t.equal(await served(path), 'root', path)
  for (const path of ['/aa/b', '/%61a/%62/c']) t.equal(await served(path), 'long', path)
  for (const path of ['/aa', '/%61%61/c']) t.equal(await served(path), 'short', path)

  const before = changes().length
  for (const path of ['/a//b', '/a/../b', '/a/.', '/a%2F%2e/b', '/%FF']) {
    const unmatchable = object({ [path]: 'root' })
    t.match(balancer.validate?.(unmatchable), [{ field: 'spec.rules[0].http.paths[0].path' }], path)
    await t.rejects(
      balancer.ensureLoadBalancer(unmatchable, contextOf(unmatchable, backends)),
      /must be UTF-8, without/,
    )
  }
  t.equal(changes().length, before)
})

t.test('it passes the conformance kit', real, async (t) => {
  const { options } = await world(t)
  const createProvider = () => createCaddyProvider(options, { logger: silentLogger, clock: createSystemClock() })
  const report = await examineProvider({ createProvider, level: 2 })
  t.ok(report.passed, formatReport(report))
  t.equal(report.results.filter(({ outcome }) => outcome === 'skipped').length, 0, formatReport(report))
})

const shop = (overrides: Partial<MultiClusterIngress['metadata']> = {}, spec: MultiClusterIngress['spec'] = {}) =>
  buildIngress({
    metadata: { uid: `uid-${overrides.name ?? 'storefront'}`, ...overrides },
    spec: { rules: [ruleOf('shop.example.com')], ...spec },
  })

const ruleOf = (host: string, service = 'web', path = '/') => ({
  ...(host === '' ? {} : { host }),
  http: { paths: [{ path, pathType: 'Prefix', backend: { service: { name: service, port: { number: 80 } } } }] },
})

t.test('one change of Caddy for each change, none where nothing differs', real, async (t) => {
  const { balancer, echo, changes, ask } = await world(t)
  const ingress = shop()
  const id = 'webhook-cloud-provider:karmada-1:MultiClusterIngress:shop:storefront:uid-storefront'
  const put = async (pods: Pods, overrides: Partial<ProviderContext> = {}, object = ingress) => {
    const before = changes().length
    const { changed } = await balancer.updateLoadBalancer(
      object,
      contextOf(object, backendsOf(echo.port, pods), overrides),
    )
    const made = changes().slice(before)
    t.equal(changed, made.length > 0, 'an event is due where something changed')
    return made
  }

  t.same(await put({ web: ['127.0.1.1'] }), ['PUT /config/apps'], 'the first makes what is missing')
  t.same(await put({ web: ['127.0.1.1'] }), [], 'nothing differs')
  const endpoints = await put({ web: ['127.0.1.1', '127.0.1.2'] })
  const routeOfBalancer = '/config/apps/http/servers/webhook-cloud-provider-127.0.2.1/routes/3/handle'
  t.same(endpoints, [`PATCH ${routeOfBalancer}`], 'endpoints are one change, of the route of the balancer alone')
  const hosts = await put({ web: ['127.0.1.1', '127.0.1.2'] }, {}, shop({}, { rules: [ruleOf('other.example.com')] }))
  t.same(hosts, ['PATCH /config/apps/http/servers/webhook-cloud-provider-127.0.2.1/routes'], 'a host too')
  t.equal((await ask('/', { host: 'shop.example.com' })).status, 404)
  t.equal((await ask('/', { host: 'other.example.com' })).status, 200)
  t.equal((await put({ web: ['127.0.1.1', '127.0.1.2'] }, { fingerprint: 'two' })).length, 1, 'a fingerprint too')

  const record = await balancer.getLoadBalancer(ingress, contextOf(ingress, { services: [] }))
  t.same(record, { fingerprint: 'two', status: { ingress: [{ ip: '192.0.2.1' }] } })
  const before = changes().length
  await balancer.ensureLoadBalancerDeleted(undefined, contextOf(ingress, { services: [] }))
  await balancer.ensureLoadBalancerDeleted(undefined, contextOf(ingress, { services: [] }))
  t.equal(changes().length, before + 1, `${id} is removed once`)
  t.equal(await balancer.getLoadBalancer(ingress, contextOf(ingress, { services: [] })), undefined)
  await t.rejects(ask('/', { host: 'other.example.com' }), { code: 'ECONNREFUSED' }, 'the port is closed')
})

t.test('objects that are made at the same time are few changes', real, async (t) => {
  const { balancer, echo, changes, ask } = await world(t)
  const names = Array.from({ length: 20 }, (_, index) => `object-${index}`)
  const ensure = (name: string) => {
    const ingress = shop({ name }, { rules: [ruleOf(`${name}.example.com`)] })
    return balancer.ensureLoadBalancer(ingress, contextOf(ingress, backendsOf(echo.port, { web: ['127.0.1.1'] })))
  }
  await Promise.all(names.map(ensure))
  t.ok(changes().length <= 2, `${changes().length} changes for 20 objects`)
  for (const name of names) t.equal((await ask('/', { host: `${name}.example.com` })).status, 200)
})

t.test('functions that work on one Caddy at the same time cannot undo each other', real, async (t) => {
  const { another, balancer, echo, caddy, ask, tunnel, options } = await world(t)
  await caddy.change('PUT', '/config/apps/http/http_port', options.httpPort)
  const functions = [balancer, another(), another()]
  const objects = Array.from({ length: 18 }, (_, index) =>
    shop({ name: `object-${index}` }, { rules: [ruleOf(`h${index}.example.com`)] }),
  )
  const makeAll = functions.map(async (each, turn) => {
    for (const ingress of objects.filter((_, index) => index % 3 === turn)) {
      await each.ensureLoadBalancer(ingress, contextOf(ingress, backendsOf(echo.port, { web: ['127.0.1.1'] })))
    }
  })
  const administrator = async () => {
    for (let index = 0; index < 5; index += 1)
      await caddy.change('PUT', `/config/apps/http/servers/theirs-${index}`, theirs(index))
  }
  await Promise.all([...makeAll, administrator()])
  for (const [index] of objects.entries()) {
    t.equal((await ask('/', { host: `h${index}.example.com` })).status, 200, `h${index} is served`)
  }
  const { apps } = (await caddy.configuration()) as { apps: { http: { servers: Record<string, unknown> } } }
  for (let index = 0; index < 5; index += 1)
    t.same(apps.http.servers[`theirs-${index}`], theirs(index), 'theirs is untouched')
  t.equal((await another().listLoadBalancers?.(listContext()))?.length, 18)
  t.comment(`${tunnel.requests.length} requests for 18 objects by 3 functions`)
})

const theirs = (index: number) => ({ listen: [`127.0.3.${index + 1}:20080`], routes: [] })
const listContext = () => ({ clusterId: 'karmada-1', signal: new AbortController().signal, logger: silentLogger })

t.test('TLS by name, rotation, redirect', real, async (t) => {
  const { balancer, echo, changes, ask, caddy, options } = await world(t)
  const authority = await createTestAuthority()
  const issue = async (commonName: string, hosts: string[], secretName = commonName): Promise<Certificate> => {
    const { cert, key } = await authority.issue({ commonNames: [commonName], usage: 'server' })
    return { hosts, secretName, certificate: cert, key }
  }
  const exact = await issue('exact', ['a.example.com'])
  const wildcard = await issue('wildcard', ['*.example.com'])
  const object = shop(
    { annotations: { [`${ANNOTATION_PREFIX}redirect-http-to-https`]: 'true' } },
    { rules: [ruleOf('a.example.com'), ruleOf('b.example.com'), ruleOf('plain.example.org')] },
  )
  const backends = backendsOf(echo.port, { web: ['127.0.1.1'] })
  const put = (certificates: Certificate[], ingress = object) =>
    balancer.ensureLoadBalancer(ingress, contextOf(ingress, backends, { certificates }))

  await put([exact, wildcard])
  const over = (servername: string) => ask('/', { host: servername }, { servername })
  t.match(await over('a.example.com'), { status: 200, commonName: 'exact' })
  t.match(await over('b.example.com'), { status: 200, commonName: 'wildcard' })
  t.match((await over('a.example.com')).echo.headers, { 'x-forwarded-proto': 'https' })
  await t.rejects(over('plain.example.org'), 'no certificate, no handshake')
  t.match(await ask('/path?query=1', { host: 'a.example.com' }), {
    status: 308,
    headers: { location: `https://a.example.com:${options.httpsPort}/path?query=1` },
  })
  t.match(await ask('/', { host: 'plain.example.org' }), { status: 200 }, 'a host without certificate stays')

  // By whatever the host is served: a rule for any host, the default backend, a wildcard that is wider.
  const annotations = { [`${ANNOTATION_PREFIX}redirect-http-to-https`]: 'true' }
  const defaultBackend = { service: { name: 'web', port: { number: 80 } } }
  for (const spec of [{ rules: [ruleOf('')] }, { rules: [], defaultBackend }, { rules: [ruleOf('*.example.com')] }]) {
    await put([exact], shop({ annotations }, spec))
    t.equal((await ask('/', { host: 'A.example.com.' })).status, 308)
    t.equal((await ask('/', { host: 'b.example.com' })).status, 200)
  }
  await put([{ ...exact, hosts: [] }], shop({ annotations }, { rules: [ruleOf('')] }))
  t.equal((await ask('/', { host: 'b.example.com' })).status, 308, 'a certificate for every host')
  await put([exact, wildcard])

  const before = changes().length
  await put([await issue('rotated', ['a.example.com'], 'exact'), wildcard])
  t.equal(changes().length, before + 1, 'rotation is one change')
  t.match(await over('a.example.com'), { commonName: 'rotated' })
  t.equal(
    JSON.stringify(await caddy.configuration()).includes(exact.key?.slice(30, 80) ?? '?'),
    false,
    'the old key is gone',
  )

  // Two objects with one certificate: Caddy keeps it once.
  const other = shop({ name: 'other' }, { rules: [ruleOf('c.example.com')] })
  await put([{ ...wildcard, secretName: 'copy', certificate: `${wildcard.certificate}\n` }], other)
  t.match(await over('c.example.com'), { status: 200, commonName: 'wildcard' })
  await balancer.ensureLoadBalancerDeleted(object, contextOf(object, { services: [] }))
  t.match(await over('c.example.com'), { status: 200, commonName: 'wildcard' }, 'it stays for whoever else has it')

  const { privateKey: unusable } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
  const unusableKey = unusable.export({ type: 'pkcs8', format: 'pem' })
  for (const [certificate, fault] of [
    [{ ...exact, certificate: 'nonsense' }, /secret shop.exact: the certificate is no PEM/],
    [{ ...exact, key: 'nonsense' }, /secret shop.exact: the key is no PEM/],
    [{ ...exact, key: wildcard.key }, /secret shop.exact: the key is not that of the certificate/],
    [{ ...exact, key: unusableKey }, /secret shop.exact: Caddy has no use for a key of type secp256k1: take RSA/],
  ] as [Certificate, RegExp][]) {
    await t.rejects(put([certificate]), fault)
  }
  t.match(await over('c.example.com'), { status: 200 }, 'what serves keeps serving')

  await balancer.ensureLoadBalancerDeleted(other, contextOf(other, { services: [] }))
  await put([exact, wildcard])
  const pods = backendsOf(echo.port, { web: ['127.0.1.2'] })
  const mixed = [{ ...exact, key: wildcard.key }, await issue('new', ['*.example.com'], 'wildcard')] as Certificate[]
  const context = contextOf(object, pods, { certificates: mixed, fingerprint: 'two' })
  await t.rejects(balancer.updateLoadBalancer(object, context), /secret shop.exact: the key is not that/)
  t.match(await over('a.example.com'), { commonName: 'exact', echo: { address: '127.0.1.2' } }, 'of before; new pods')
  t.match(await over('b.example.com'), { commonName: 'new' }, 'one bad Secret does not hold up another')
  const count = changes().length
  await t.rejects(balancer.updateLoadBalancer(object, context), /secret shop.exact/, 'it is told again')
  t.equal(changes().length, count)
  t.not((await balancer.getLoadBalancer(object, context))?.fingerprint, 'two')
})

t.test('a certificate for hosts without one', real, async (t) => {
  const directory = t.testdir()
  const authority = await createTestAuthority()
  const { cert, key } = await authority.issue({ commonNames: ['default'], usage: 'server' })
  const defaultCertificate = { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') }
  writeFileSync(defaultCertificate.certFile, cert)
  writeFileSync(defaultCertificate.keyFile, key)
  const { balancer, echo, ask } = await world(t, { defaultCertificate })
  const object = shop()
  await balancer.ensureLoadBalancer(object, contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] })))
  const answer = await ask('/', { host: 'shop.example.com' }, { servername: 'shop.example.com' })
  t.match(answer, { status: 200, commonName: 'default' })
})

t.test('whoever edits by hand is seen, and put right', real, async (t) => {
  const { balancer, echo, caddy, ask, another } = await world(t)
  const object = shop()
  const context = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))
  await balancer.ensureLoadBalancer(object, context)
  const server = '/config/apps/http/servers/webhook-cloud-provider-127.0.2.1'
  const edits: [string, string, unknown][] = [
    ['PATCH', `${server}/routes/3/handle/1/routes/0/handle/0/upstreams`, [{ dial: '127.0.1.66:1' }]],
    ['DELETE', `${server}/routes/3/handle/1/routes/0`, undefined],
    ['PATCH', `${server}/routes/3/handle/0/webhook-cloud-provider/assigned/pool`, 'mine'],
    ['DELETE', `${server}/routes/3/handle/0/webhook-cloud-provider/identity`, undefined],
  ]
  for (const [method, path, value] of edits) {
    await caddy.change(method, path, value)
    const record = await balancer.getLoadBalancer(object, context)
    t.ok(record !== undefined && record.fingerprint === undefined, `${method} ${path}`)
    t.equal((await balancer.updateLoadBalancer(object, context)).changed, true)
    t.equal((await balancer.getLoadBalancer(object, context))?.fingerprint, 'one')
    t.equal((await ask('/', { host: 'shop.example.com' })).status, 200)
  }
  // Caddy takes null for nearly everything, and addresses that are none as long as nothing listens there.
  const record = `${server}/routes/3/handle/0/webhook-cloud-provider`
  const broken: [string, unknown][] = [
    [`${server}/routes`, null],
    [server, null],
    ['/config/apps/http/servers', null],
    ['/config/apps', null],
    [`${server}/routes/3/handle`, null],
    [`${server}/routes/3/handle/1/routes`, null],
    [`${record}/assigned/claims/0`, null],
    [`${record}/assigned/addresses/0/listen`, 'no address'],
    [`${record}/certificates`, [{ tag: 'one', hosts: [null] }]],
    [`${record}/routes/0/host`, '{env.HOME}'],
    [`${record}/routes/0/upstream`, 5],
  ]
  const neighbour = shop({ name: 'neighbour' }, { rules: [ruleOf('neighbour.example.com')] })
  for (const [path, value] of broken) {
    // A Caddy that stops listening closes the connection that asked for it.
    await caddy.change('PATCH', path, value).catch((error) => t.match(error, { code: 'ECONNRESET' }))
    await balancer.ensureLoadBalancer(neighbour, contextOf(neighbour, { services: [] }))
    await balancer.updateLoadBalancer(object, context)
    t.equal((await balancer.getLoadBalancer(object, context))?.fingerprint, 'one', `${path}: ${JSON.stringify(value)}`)
    t.equal((await ask('/', { host: 'shop.example.com' })).status, 200)
    await balancer.ensureLoadBalancerDeleted(neighbour, contextOf(neighbour, { services: [] }))
  }
  await caddy.change('PATCH', `${server}/routes`, [])
  t.equal(await balancer.getLoadBalancer(object, context), undefined, 'it is gone')
  await balancer.ensureLoadBalancer(object, context)
  await caddy.change('DELETE', `${server}/routes/0`)
  t.equal(
    (await balancer.updateLoadBalancer(object, context)).changed,
    true,
    'what is outside of it is verified by update',
  )
  t.equal((await ask('/', { host: 'shop.example.com' })).status, 200)
  const other = await another({ addresses: [] }).getLoadBalancer(object, context)
  t.equal(other?.fingerprint, undefined, 'by other settings it is outdated')
})

t.test('after a restart with nothing it is absent, and the next ensure restores it', real, async (t) => {
  const { balancer, echo, caddy, ask } = await world(t)
  const object = shop()
  const context = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))
  await balancer.ensureLoadBalancer(object, context)
  await caddy.kill()
  await t.rejects(balancer.getLoadBalancer(object, context), /the admin endpoint of Caddy at http.* cannot be used/)
  await t.rejects(balancer.ensureLoadBalancerDeleted(object, context), /cannot be used/, 'not knowing is not absent')
  await caddy.restart()
  t.equal(await balancer.getLoadBalancer(object, context), undefined)
  await balancer.ensureLoadBalancer(object, context)
  t.equal((await ask('/', { host: 'shop.example.com' })).status, 200)
})

t.test('a lost answer is not a lost change', real, async (t) => {
  const { balancer, echo, tunnel, changes } = await world(t)
  const object = shop()
  const context = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))
  tunnel.loseAnswerTo('PUT')
  t.equal((await balancer.ensureLoadBalancer(object, context)).changed, true)
  t.equal(changes().length, 1, 'it is looked at, and not made again')
  tunnel.loseAnswerTo('GET')
  t.equal((await balancer.getLoadBalancer(object, context))?.fingerprint, 'one', 'a read is tried again')
})

t.test('weights by cluster, and affinity', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const backends = backendsOf(echo.port, { web: { edge: ['127.0.1.1', '127.0.1.2'], home: ['127.0.1.3'] } })
  const annotated = (annotations: Record<string, string>) =>
    shop({
      annotations: Object.fromEntries(
        Object.entries(annotations).map(([name, value]) => [ANNOTATION_PREFIX + name, value]),
      ),
    })
  const put = (ingress: MultiClusterIngress) => balancer.ensureLoadBalancer(ingress, contextOf(ingress, backends))
  const count = async (requests: number, headers: Record<string, string> = {}) => {
    const counts = new Map<string, number>()
    for (let index = 0; index < requests; index += 1) {
      const { echo } = await ask('/', { host: 'shop.example.com', ...headers })
      counts.set(echo.address, (counts.get(echo.address) ?? 0) + 1)
    }
    return counts
  }

  await put(annotated({}))
  t.same([...(await count(30)).values()], [10, 10, 10], 'in turn')
  await put(annotated({ 'cluster-weights': 'edge=1,home=3' }))
  const weighted = await count(1_000)
  const home = (weighted.get('127.0.1.3') ?? 0) / 10
  t.ok(Math.abs(home - 75) < 5, `home has ${home} %, asked for 75`)
  t.equal(weighted.size, 3)
  await put(annotated({ 'cluster-weights': 'edge=0' }))
  t.same([...(await count(20)).keys()], ['127.0.1.3'], 'nothing new for a cluster of weight 0')
  await put(annotated({ affinity: 'source-ip' }))
  t.equal((await count(20)).size, 1, 'one client, one pod')
  await put(annotated({ affinity: 'cookie' }))
  const [cookie = ''] = [(await ask('/', { host: 'shop.example.com' })).headers['set-cookie'] ?? []].flat()
  t.match(cookie, /^lb-[0-9a-f]{8}=/)
  t.equal((await count(20, { cookie: cookie.split(';')[0] ?? '' })).size, 1, 'one cookie, one pod')
})

t.test('pools that are held, empty, or gone', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const object = shop({}, { rules: [ruleOf('shop.example.com'), ruleOf('new.example.com', 'new')] })
  const put = (backends: Backends) => balancer.ensureLoadBalancer(object, contextOf(object, backends))
  const status = async (host: string) => (await ask('/', { host })).status
  const serving = backendsOf(echo.port, { web: ['127.0.1.1'], new: [] })
  const held = structuredClone(serving)
  for (const { ports } of held.services) {
    for (const port of ports) Object.assign(port, { state: 'held', pools: [] })
  }
  await put(serving)
  t.same([await status('shop.example.com'), await status('new.example.com')], [200, 503])
  await put(held)
  t.same([await status('shop.example.com'), await status('new.example.com')], [200, 503], 'held: what is served stays')
  await put(backendsOf(echo.port, { web: [], new: ['127.0.1.1'] }))
  t.same([await status('shop.example.com'), await status('new.example.com')], [503, 200], 'empty: nobody answers')
  await put({ services: [] })
  t.same([await status('shop.example.com'), await status('new.example.com')], [503, 503])
})

t.test('rewrite, headers, body limit, timeouts, protocols', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const annotations = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [ANNOTATION_PREFIX + name, value]))
  const put = async (values: Record<string, string>, paths: { path: string; pathType: string }[]) => {
    const backend = { service: { name: 'web', port: { number: 80 } } }
    const rules = [{ host: 'shop.example.com', http: { paths: paths.map((path) => ({ ...path, backend })) } }]
    const object = shop({ annotations: annotations(values) }, { rules })
    await balancer.ensureLoadBalancer(object, contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] })))
  }
  const seen = async (path: string) => (await ask(path, { host: 'shop.example.com' })).echo.url
  const prefix = { path: '/shop', pathType: 'Prefix' }

  await put({ 'rewrite-target': '/v1' }, [prefix, { path: '/exact', pathType: 'Exact' }])
  t.equal(await seen('/shop'), '/v1')
  t.equal(await seen('/shop/cart?item=$1'), '/v1/cart?item=$1')
  t.equal(await seen('/shop/'), '/v1/')
  t.equal(await seen('/exact'), '/v1')
  t.equal(await seen('//shop//cart'), '/v1//cart')
  t.equal(await seen('/%73hop%2Fcart%2F1'), '/v1%2Fcart%2F1', 'however it is written')
  for (const path of [
    '/cart/../shop/cart',
    '/shop/x/../../shop/cart',
    '/shop/%2e%2e/shop',
    '/./shop/cart',
    '/shop/.',
  ]) {
    const { status } = await ask(path, { host: 'shop.example.com' })
    t.equal(status, 400, `${path}: nothing leads out of the target`)
  }
  await put({ 'rewrite-target': '/v1' }, [{ path: '/caf%C3%A9/50%25/a.b', pathType: 'Prefix' }])
  t.equal(await seen('/caf%c3%a9/50%25/a.b/x'), '/v1/x')
  t.equal((await ask('/caf%C3%A9/50%25/aXb', { host: 'shop.example.com' })).status, 404)
  await put({ 'rewrite-target': '/' }, [prefix])
  t.equal(await seen('/shop'), '/')
  t.equal(await seen('/shop/cart'), '/cart')
  await put({ 'rewrite-target': '/v1' }, [{ path: '/', pathType: 'Prefix' }])
  t.equal(await seen('/'), '/v1/')
  t.equal(await seen('/cart'), '/v1/cart')

  await put({ 'request-headers': 'X-Stage: test\nAccept-Language:', 'response-headers': 'X-From: caddy\nServer:' }, [
    prefix,
  ])
  const answer = await ask('/shop', {
    host: 'shop.example.com',
    'accept-language': 'de',
    'x-forwarded-for': '203.0.113.66',
  })
  t.match(answer, {
    headers: { 'x-from': 'caddy' },
    echo: { headers: { 'x-stage': 'test', host: 'shop.example.com' } },
  })
  t.equal(answer.echo.headers['accept-language'], undefined, 'an empty value removes it')
  t.equal(answer.echo.headers['x-forwarded-for'], '127.0.0.1', 'what a client says of itself does not count')

  await put({ 'request-body-limit': '1000' }, [prefix])
  const send = (bytes: number) =>
    ask(
      '/shop',
      { host: 'shop.example.com', 'content-length': String(bytes) },
      { method: 'POST', body: 'x'.repeat(bytes) },
    )
  t.match(await send(1_000), { status: 200, echo: { bodyBytes: 1_000 } })
  t.equal((await send(100_000)).status, 413)

  await put({ 'response-timeout': '1' }, [prefix])
  echo.intercept((request) => request.url === '/shop/slow')
  t.equal(
    (await ask('/shop/slow', { host: 'shop.example.com' }, { method: 'POST' })).status,
    504,
    'nobody waits for ever',
  )
})

t.test('gRPC over h2c, and upgrades', real, async (t) => {
  const { balancer, options } = await world(t)
  const authority = await createTestAuthority()
  const { cert, key } = await authority.issue({ commonNames: ['grpc'], usage: 'server' })
  const certificates = [{ hosts: ['shop.example.com'], secretName: 'grpc', certificate: cert, key }]
  const put = (protocol: string, port: number) => {
    const object = shop({ annotations: { [`${ANNOTATION_PREFIX}backend-protocol`]: protocol } })
    return balancer.ensureLoadBalancer(
      object,
      contextOf(object, backendsOf(port, { web: ['127.0.1.1'] }), { certificates }),
    )
  }
  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => void server.listen(0, '0.0.0.0', resolve))
    t.teardown(() => server.close())
    return (server.address() as AddressInfo).port
  }

  const grpc = createHttp2Server()
  grpc.on('stream', (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    // Each message is answered at once, while the request goes on.
    stream.pipe(stream)
  })
  await put('h2c', await listen(grpc))
  const session = connectHttp2(`https://127.0.2.1:${options.httpsPort}`, {
    servername: 'shop.example.com',
    rejectUnauthorized: false,
  })
  t.teardown(() => session.destroy())
  const call = session.request({
    ':method': 'POST',
    ':path': '/shop.Cart/Watch',
    ':authority': 'shop.example.com',
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  const trailers = new Promise((resolve) => void call.once('trailers', resolve))
  for (const message of ['one', 'two']) {
    call.write(message)
    const [answer] = await once(call, 'data')
    t.equal(String(answer), message, 'both ways at the same time')
  }
  call.end()
  call.resume()
  t.match(await trailers, { 'grpc-status': '0' })

  const sockets = createHttpServer().on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  })
  await put('http', await listen(sockets))
  const upgrade = plainRequest({
    host: '127.0.2.1',
    port: options.httpPort,
    headers: { host: 'shop.example.com', connection: 'Upgrade', upgrade: 'websocket' },
  })
  upgrade.end()
  const [response, socket] = (await once(upgrade, 'upgrade')) as [unknown, Socket]
  t.match(response, { statusCode: 101 })
  socket.write('ping')
  t.equal(String((await once(socket, 'data'))[0]), 'ping')
  socket.destroy()
})

t.test('a change waits for no request, and every request that runs is finished', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const object = shop()
  const put = (address: string) =>
    balancer.ensureLoadBalancer(object, contextOf(object, backendsOf(echo.port, { web: [address] })))
  await put('127.0.1.1')
  const arrived = Promise.withResolvers<ServerResponse>()
  echo.intercept(({ url }, response) => {
    if (url !== '/slow') return false
    arrived.resolve(response)
    return true
  })
  const slow = ask('/slow', { host: 'shop.example.com' })
  const response = await arrived.promise
  await put('127.0.1.2')
  t.equal((await ask('/', { host: 'shop.example.com' })).echo.address, '127.0.1.2')
  response.end('at last')
  t.match(await slow, { status: 200, body: 'at last' })
})

t.test('pods that fail are found out', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const object = shop({
    annotations: {
      [`${ANNOTATION_PREFIX}health-check-path`]: '/healthz',
      [`${ANNOTATION_PREFIX}health-check-interval`]: '1',
      [`${ANNOTATION_PREFIX}health-check-timeout`]: '1',
    },
  })
  const backends = backendsOf(echo.port, { web: ['127.0.1.1', '127.0.1.2'] })
  // Port 1 of another address: nobody listens.
  const pool = backends.services[0]?.ports[0]?.pools[0]
  const [first] = pool?.endpoints ?? []
  if (pool !== undefined && first !== undefined) pool.endpoints.push({ ...first, address: '127.0.1.9', port: 1 })
  let checks = 0
  echo.intercept(({ url, socket }, response) => {
    if (url !== '/healthz') return false
    checks += 1
    response.writeHead(socket.localAddress === '127.0.1.2' ? 500 : 204).end()
    return true
  })
  await balancer.ensureLoadBalancer(object, contextOf(object, backends))
  const statuses = new Set<number>()
  for (let index = 0; index < 30; index += 1) statuses.add((await ask('/', { host: 'shop.example.com' })).status)
  t.same([...statuses], [200], 'a pod that refuses is passed over')
  await new Promise((resolve) => setTimeout(resolve, 300))
  const answered = new Set<string>()
  for (let index = 0; index < 20; index += 1) answered.add((await ask('/', { host: 'shop.example.com' })).echo.address)
  t.same([...answered], ['127.0.1.1'], 'a pod that says it is ill gets nothing')
  t.ok(checks >= 2)
})

t.test('clients cannot take pods away by what they send, unless passive checks are asked for', real, async (t) => {
  const { balancer, echo, ask, options } = await world(t)
  const malformed = 'POST / HTTP/1.1\r\nHost: shop.example.com\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
  const sendMalformed = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect(options.httpPort, '127.0.2.1', () => void socket.write(malformed))
      socket.once('error', reject)
      socket.once('data', () => {
        socket.destroy()
        resolve()
      })
    })
  const statusAfter = async (annotations: Record<string, string>) => {
    const object = shop({ annotations })
    const backends = backendsOf(echo.port, { web: ['127.0.1.1', '127.0.1.2'] })
    await balancer.ensureLoadBalancer(object, contextOf(object, backends))
    for (let index = 0; index < 10; index += 1) await sendMalformed()
    return (await ask('/', { host: 'shop.example.com' })).status
  }
  t.equal(await statusAfter({}), 200)
  t.equal(await statusAfter({ [`${ANNOTATION_PREFIX}passive-seconds`]: '2' }), 503, 'as the documentation says')
})

t.test('a cluster that dies fails nobody, also by weights', real, async (t) => {
  const { balancer, echo, ask } = await world(t)
  const object = shop({ annotations: { [`${ANNOTATION_PREFIX}cluster-weights`]: 'gone=1,here=2' } })
  const backends = backendsOf(echo.port, { web: { gone: ['127.0.1.8'], here: ['127.0.1.1'] } })
  // Nobody listens on port 1.
  for (const endpoint of backends.services[0]?.ports[0]?.pools[0]?.endpoints ?? []) Object.assign(endpoint, { port: 1 })
  await balancer.ensureLoadBalancer(object, contextOf(object, backends))
  const statuses = new Set<number>()
  for (let index = 0; index < 200; index += 1) statuses.add((await ask('/', { host: 'shop.example.com' })).status)
  t.same([...statuses], [200])
})

t.test('several Caddies serve the same', real, async (t) => {
  const { another, options, echo, caddy, ask } = await world(t)
  // On one machine both can listen on the address, since Caddy shares ports for its reloads.
  const second = await startCaddy()
  t.teardown(() => second.close())
  const both = another({ admin: [...options.admin, new URL(second.admin)] })
  const object = shop()
  const context = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))
  const apps = async (each: RunningCaddy) => (await each.configuration())['apps']

  await both.ensureLoadBalancer(object, context)
  t.same(await apps(caddy), await apps(second))
  t.equal((await both.getLoadBalancer(object, context))?.fingerprint, 'one')
  await second.kill()
  t.same(
    await both.getLoadBalancer(object, context),
    { status: { ingress: [{ ip: '192.0.2.1' }] } },
    'not known of all',
  )
  const moved = { ...context, backends: backendsOf(echo.port, { web: ['127.0.1.2'] }), fingerprint: 'two' }
  await t.rejects(both.updateLoadBalancer(object, moved), /cannot be used/, 'one could not be asked, and it is said')
  t.equal((await ask('/', { host: 'shop.example.com' })).echo.address, '127.0.1.2', 'the other serves what is asked')
  await t.rejects(both.ensureLoadBalancerDeleted(object, moved), /cannot be used/, 'not proved absent')
  await t.rejects(both.getLoadBalancer(object, moved), /cannot be used/)
  await both.ensureLoadBalancer(object, moved).catch(() => undefined)
  await second.restart()
  t.equal((await both.getLoadBalancer(object, moved))?.fingerprint, undefined, 'the second has nothing')
  const held = structuredClone(moved.backends)
  for (const port of held.services.flatMap(({ ports }) => ports)) Object.assign(port, { state: 'held', pools: [] })
  await both.updateLoadBalancer(object, { ...moved, backends: held })
  t.match(JSON.stringify(await apps(second)), /127\.0\.1\.2/, 'what is held is known of the other')
  await both.updateLoadBalancer(object, moved)
  t.same(await apps(caddy), await apps(second))
  await both.ensureLoadBalancerDeleted(object, moved)
  t.equal(await both.getLoadBalancer(object, moved), undefined)
})

t.test('what Caddy refuses for one object does not hold up others', real, async (t) => {
  const { balancer, another, echo, ask, options } = await world(t)
  const taken = createServer()
  await new Promise<void>((resolve) => void taken.listen(options.httpPort, '127.0.2.2', resolve))
  t.teardown(() => taken.close())
  const pools = [
    ...options.addresses,
    { name: 'taken', addresses: [{ family: 'IPv4' as const, ip: '192.0.2.2', listen: '127.0.2.2' }] },
  ]
  const several = another({ addresses: pools })
  const bad = shop({ name: 'bad', annotations: { [`${ANNOTATION_PREFIX}address-pool`]: 'taken' } })
  const objects = [
    bad,
    ...[1, 2].map((index) => shop({ name: `good-${index}` }, { rules: [ruleOf(`good-${index}.example.com`)] })),
  ]
  const outcomes = await Promise.allSettled(
    objects.map((object) =>
      several.ensureLoadBalancer(object, contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))),
    ),
  )
  t.match(outcomes, [
    { status: 'rejected', reason: /refuses the configuration: .*address already in use/ },
    { status: 'fulfilled' },
    { status: 'fulfilled' },
  ])
  for (const index of [1, 2]) t.equal((await ask('/', { host: `good-${index}.example.com` })).status, 200)
  await t.rejects(balancer.ensureLoadBalancer(bad, contextOf(bad, { services: [] })), {
    kind: 'Terminal',
    message: /no address pool taken/,
  })
})

t.test('two objects that want all of an address are a conflict, and the first keeps it', real, async (t) => {
  const { balancer, echo, ask, changes } = await world(t)
  const backends = backendsOf(echo.port, { web: ['127.0.1.1'] })
  const [first, second] = [
    shop({ name: 'first' }, { rules: [ruleOf('')] }),
    shop({ name: 'second' }, { rules: [ruleOf('')] }),
  ]
  await balancer.ensureLoadBalancer(first, contextOf(first, backends))
  const before = changes().length
  const refused = { kind: 'Terminal', message: /any host on port 80 of 192.0.2.1 go to MultiClusterIngress shop.first/ }
  await t.rejects(balancer.ensureLoadBalancer(second, contextOf(second, backends)), refused)
  t.equal(changes().length, before)
  t.equal((await ask('/', { host: 'any.example.com' })).status, 200)
  // A host may have paths of several.
  const third = shop({ name: 'third' }, { rules: [ruleOf('shop.example.com', 'web', '/third')] })
  const fourth = shop({ name: 'fourth' }, { rules: [ruleOf('shop.example.com', 'web', '/fourth')] })
  for (const object of [third, fourth]) await balancer.ensureLoadBalancer(object, contextOf(object, backends))
  for (const path of ['/third', '/fourth']) t.equal((await ask(path, { host: 'shop.example.com' })).status, 200)
  t.equal((await ask('/third', { host: 'Shop.example.com.' })).status, 200, 'the dot of the root')
  t.equal((await ask('/second', { host: 'shop.example.com' })).status, 404, 'the most specific host decides')
  await balancer.ensureLoadBalancerDeleted(third, contextOf(third, { services: [] }))
  t.equal((await ask('/fourth', { host: 'shop.example.com' })).status, 200)
})

t.test('both families, and objects on one of them', real, async (t) => {
  const pool = [
    { family: 'IPv4' as const, ip: '192.0.2.1', listen: '127.0.2.1' },
    { family: 'IPv6' as const, ip: '2001:db8::1', listen: '::1' },
  ]
  const { balancer, echo, ask, caddy } = await world(t, { addresses: [{ name: 'default', addresses: pool }] })
  const put = async (name: string, annotations: Record<string, string> = {}) => {
    const object = shop({ name, annotations }, { rules: [ruleOf(`${name}.example.com`)] })
    return await balancer.ensureLoadBalancer(object, contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] })))
  }
  const servers = async () =>
    Object.keys(((await caddy.configuration()) as { apps: { http: { servers: object } } }).apps.http.servers)
  const status = async (name: string, listen: string) =>
    (await ask('/', { host: `${name}.example.com` }, { listen })).status
  t.same(await put('both'), { changed: true, status: { ingress: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }] } })
  t.equal((await servers()).length, 1, 'one server where the same is served')
  t.same([await status('both', '127.0.2.1'), await status('both', '::1')], [200, 200])
  await put('six', { [`${ANNOTATION_PREFIX}ip-families`]: 'IPv6' })
  t.equal((await servers()).length, 2)
  t.same([await status('both', '127.0.2.1'), await status('both', '::1')], [200, 200])
  t.same([await status('six', '127.0.2.1'), await status('six', '::1')], [404, 200])
  t.equal(
    (await balancer.getLoadBalancer(shop({ name: 'both' }), contextOf(shop({ name: 'both' }), { services: [] })))
      ?.fingerprint,
    'one',
  )
})

t.test('what others have in the same Caddy stays as it is', real, async (t) => {
  const { balancer, echo, caddy, options } = await world(t)
  const authority = await createTestAuthority()
  const { cert, key } = await authority.issue({ commonNames: ['theirs'], usage: 'server' })
  const foreign = {
    admin: (await caddy.configuration())['admin'],
    logging: { logs: { default: { level: 'ERROR' } } },
    apps: {
      http: { http_port: options.httpPort, servers: { theirs: theirs(0) } },
      tls: { certificates: { load_pem: [{ certificate: cert, key, tags: ['theirs'] }] } },
    },
  }
  await caddy.change('POST', '/config/', foreign)
  const before = await caddy.configuration()
  const object = shop()
  const ours = await authority.issue({ commonNames: ['ours'], usage: 'server' })
  const certificates = [{ hosts: ['shop.example.com'], secretName: 'ours', certificate: ours.cert, key: ours.key }]
  await balancer.ensureLoadBalancer(
    object,
    contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }), { certificates }),
  )
  t.notSame(await caddy.configuration(), before)
  await balancer.ensureLoadBalancerDeleted(object, contextOf(object, { services: [] }))
  t.same(await caddy.configuration(), before, 'as if we had never been there')

  await caddy.change('PATCH', '/config/apps/http/http_port', 1)
  const refused = /plain HTTP on port 1 and not on \d+: set provider.options.httpPort to 1, or http_port/
  await t.rejects(balancer.ensureLoadBalancer(object, contextOf(object, { services: [] })), refused)
})

t.test('an endpoint over a socket', real, async (t) => {
  const caddy = await startCaddy('socket')
  t.teardown(() => caddy.close())
  const { another, echo } = await world(t)
  const balancer = another({ admin: [new URL(caddy.admin)] })
  const object = shop()
  const context = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))
  await balancer.ensureLoadBalancer(object, context)
  t.equal((await balancer.getLoadBalancer(object, context))?.fingerprint, 'one')
})

t.test('a remote endpoint over mutual TLS', real, async (t) => {
  const authority = await createTestAuthority()
  const [ours, strange] = await Promise.all(
    ['ours', 'strange'].map((name) => authority.issue({ commonNames: [name], usage: 'client' })),
  )
  const caddy = await startSecureCaddy(ours?.cert ?? '')
  t.teardown(() => caddy.close())
  const directory = t.testdir()
  const file = (name: string, text = '') => {
    writeFileSync(join(directory, name), text)
    return join(directory, name)
  }
  const { another, echo } = await world(t)
  const { url, caFile } = caddy.secure
  const balancerWith = (client: { cert: string; key: string } | undefined, name: string) => {
    const adminTls = {
      caFile,
      serverName: 'localhost',
      certFile: file(`${name}.crt`, client?.cert),
      keyFile: file(`${name}.key`, client?.key),
    }
    return another({ admin: [new URL(url)], adminTls })
  }
  const object = shop()
  const context = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.1'] }))
  const balancer = balancerWith(ours, 'ours')
  await balancer.ensureLoadBalancer(object, context)
  t.equal((await balancer.getLoadBalancer(object, context))?.fingerprint, 'one')
  await t.rejects(
    balancerWith(strange, 'strange').getLoadBalancer(object, context),
    /the admin endpoint of Caddy at https/,
  )
  await balancer.ensureLoadBalancerDeleted(object, context)
})

t.test('500 hosts with 20 paths each', { ...real, timeout: 240_000 }, async (t) => {
  const { balancer, another, echo, caddy, ask, options } = await world(t, { adminTimeoutMs: 60_000 })
  const before = caddy.residentMemory()
  const paths = Array.from({ length: 20 }, (_, index) => `/service-${index}/v1`)
  const objectOf = (index: number) => {
    const backend = { service: { name: 'web', port: { number: 80 } } }
    const rule = {
      host: `host-${index}.example.com`,
      http: { paths: paths.map((path) => ({ path, pathType: 'Prefix', backend })) },
    }
    return shop({ name: `object-${index}` }, { rules: [rule] })
  }
  const objects = Array.from({ length: 500 }, (_, index) => objectOf(index))
  const backends = backendsOf(echo.port, { web: ['127.0.1.1', '127.0.1.2'] })
  const timed = async (call: () => Promise<unknown>) => {
    const started = performance.now()
    await call()
    return Math.round(performance.now() - started)
  }
  const all = await timed(() =>
    Promise.all(objects.map((object) => balancer.ensureLoadBalancer(object, contextOf(object, backends)))),
  )
  const object = objectOf(250)
  const moved = contextOf(object, backendsOf(echo.port, { web: ['127.0.1.3'] }), { fingerprint: 'two' })
  const one = await timed(() => another().updateLoadBalancer(object, moved))
  const get = await timed(() => balancer.getLoadBalancer(object, moved))
  t.equal((await ask('/service-19/v1/x', { host: 'host-250.example.com' })).echo.address, '127.0.1.3')
  t.equal((await ask('/service-19/v1/x', { host: 'host-499.example.com' })).status, 200)
  t.equal((await ask('/service-20', { host: 'host-499.example.com' })).status, 404)
  const latency = await timed(async () => {
    for (let index = 0; index < 50; index += 1) await ask('/service-19/v1', { host: 'host-499.example.com' })
  })
  const size = JSON.stringify(await caddy.configuration()).length
  t.comment(`500 hosts x 20 paths: ${all} ms; then one endpoint change ${one} ms, one get ${get} ms`)
  t.comment(
    `configuration ${Math.round(size / 1024)} KiB; Caddy ${before} KiB before, ${caddy.residentMemory()} KiB after`,
  )
  t.comment(`${latency / 50} ms a request to the last host, over ports ${options.httpPort}`)
})

t.test('weights become repeated servers, right within half a point', async (t) => {
  const repeat = (...weights: number[]) =>
    repeatServers(weights.map((weight, index) => ({ dial: `pod-${index}`, weight })))
  const counts = (dials: string[]) => [...Map.groupBy(dials, (dial) => dial).values()].map(({ length }) => length)
  t.same(counts(repeat(1)), [1])
  t.same(counts(repeat(1, 1, 1)), [1, 1, 1], 'no weights, no repetition')
  t.same(counts(repeat(3, 1)), [3, 1])
  t.same(counts(repeat(96, 64, 32)), [3, 2, 1])
  for (const weights of [
    [1, 99],
    [256, 1],
    [7, 11, 13],
    [33, 33, 34],
  ]) {
    const dials = repeat(...weights)
    const sum = weights.reduce((total, weight) => total + weight, 0)
    for (const [index, count] of counts(dials).entries()) {
      const error = Math.abs(count / dials.length - (weights[index] ?? 0) / sum)
      t.ok(error <= 0.0075, `${weights}: pod ${index} is off by ${error.toFixed(4)} of ${dials.length}`)
    }
    t.ok(dials.length <= 100)
  }
  t.equal(repeat(...Array.from({ length: 300 }, (_, index) => (index % 2 === 0 ? 1 : 2))).length <= 600, true)
})

t.test('the smallest write that has all differences in it', async (t) => {
  const before = { apps: { http: { servers: { a: { routes: [1, 2] }, b: {} } } }, admin: {} }
  const after = (change: (copy: typeof before) => void) => {
    const copy = structuredClone(before)
    change(copy)
    return smallestChange(before, copy)
  }
  t.equal(
    after(() => {}),
    undefined,
  )
  t.same(
    after((copy) => (copy.apps.http.servers.a.routes[1] = 3)),
    { method: 'PATCH', path: ['apps', 'http', 'servers', 'a', 'routes', '1'], value: 3 },
  )
  t.same(
    after((copy) => copy.apps.http.servers.a.routes.push(3)),
    { method: 'PATCH', path: ['apps', 'http', 'servers', 'a', 'routes'], value: [1, 2, 3] },
  )
  t.same(
    after((copy) => Object.assign(copy.apps.http.servers, { c: {} })),
    { method: 'PUT', path: ['apps', 'http', 'servers', 'c'], value: {} },
  )
  t.same(
    after((copy) => Reflect.deleteProperty(copy.apps.http.servers, 'b')),
    { method: 'DELETE', path: ['apps', 'http', 'servers', 'b'] },
  )
  t.match(
    after((copy) => Object.assign(copy, { admin: 1, apps: 2 })),
    { method: 'PATCH', path: [], value: { admin: 1, apps: 2 } },
  )
})

t.test('no placeholder in a text of an object is filled in', real, async (t) => {
  const { caddy, options, ask } = await world(t)
  const texts = [
    '{env.PATH}',
    'a{b',
    'a}b',
    '\\{env.PATH}',
    '{{env.PATH}}',
    '{"json": {"a": 1}}',
    '\\}',
    'plain \\ text',
  ]
  const headers = Object.fromEntries(texts.map((text, index) => [`X-${index}`, [literal(text)]]))
  const server = {
    listen: [`127.0.2.1:${options.httpPort}`],
    automatic_https: { disable: true },
    routes: [
      {
        handle: [
          { handler: 'headers', response: { set: headers } },
          { handler: 'static_response', status_code: 200 },
        ],
      },
    ],
  }
  await caddy.change('POST', '/config/apps', { http: { servers: { probe: server } } })
  const answer = await ask('/')
  for (const [index, text] of texts.entries()) t.equal(answer.headers[`x-${index}`], text)
})

t.test('nothing that is no address gets into Caddy', (t) => {
  const upstream = (address: string, port: number) => ({
    key: 'web:80',
    protocol: 'http' as const,
    state: 'serving' as const,
    servers: [{ address, port, cluster: 'member1', weight: 1 }],
  })
  const { options } = routeSettings({})
  const dial = (address: string, port: number) =>
    JSON.stringify(renderUpstream(upstream(address, port), options, 'lb', [])).match(/"dial":"([^"]*)"/)?.[1]
  t.equal(dial('10.0.0.1', 80), '10.0.0.1:80')
  t.equal(dial('2001:db8::1', 80), '[2001:db8::1]:80')
  for (const [address, port] of [
    ['{env.HOST}', 80],
    ['web.shop', 80],
    ['10.0.0.1', 0],
    ['10.0.0.1', 70_000],
    ['', 80],
  ] as const) {
    t.throws(() => dial(address, port), /web:80: an endpoint has the address/)
  }
  t.end()
})

t.test('what Caddy cannot do is said before, and never done by half', real, async (t) => {
  const { balancer, changes } = await world(t)
  const faults: Record<string, string>[] = [
    { 'health-check-protocol': 'tcp' },
    { 'health-check-interval': '5' },
    { 'health-check-path': '/', 'healthy-threshold': '3' },
    { affinity: 'source-ip', 'cluster-weights': 'edge=1' },
    { 'request-body-limit': '100', 'passive-failures': '2' },
    { 'request-body-limit': '100', 'passive-seconds': '2' },
  ]
  for (const fault of faults) {
    const annotations = Object.fromEntries(
      Object.entries(fault).map(([name, value]) => [ANNOTATION_PREFIX + name, value]),
    )
    const object = shop({ annotations })
    t.equal(balancer.validate?.(object).length, 1, JSON.stringify(fault))
    await t.rejects(balancer.ensureLoadBalancer(object, contextOf(object, { services: [] })), /^metadata.annotations/)
  }
  const asksHttps = shop({ annotations: { [`${ANNOTATION_PREFIX}health-check-protocol`]: 'https' } })
  const refused = { message: /web:80: Caddy asks pods by the protocol that they serve, http: set backend-protocol/ }
  await t.rejects(
    balancer.ensureLoadBalancer(asksHttps, contextOf(asksHttps, backendsOf(1, { web: ['127.0.1.1'] }))),
    refused,
  )
  t.same(balancer.validate?.(shop()), [])
  const anySize = { 'request-body-limit': '0', 'passive-failures': '2' }
  const annotations = Object.fromEntries(
    Object.entries(anySize).map(([name, value]) => [ANNOTATION_PREFIX + name, value]),
  )
  t.same(balancer.validate?.(shop({ annotations })), [], 'no limit, no conflict')
  t.same(changes(), [])
})

t.test('options: every fault at once, with field and remedy', (t) => {
  const faultsOf = (given: Record<string, unknown>) => {
    const faults: string[] = []
    const fault = (field: string, message: string) => void faults.push(`${field}: ${message}`)
    caddyProviderFactory({ options: given, fault, logger: silentLogger, clock: createSystemClock() })
    return faults
  }
  t.same(faultsOf({ admin: 'http://10.0.0.5:2019', addresses: ['192.0.2.1'] }), [])
  t.same(faultsOf({ admin: ['unix:///run/caddy/admin.sock'], addresses: { edge: ['192.0.2.1'] } }), [])
  t.match(faultsOf({}), [/^admin: is missing/, /^addresses: /])
  const faults = faultsOf({
    admin: ['http://user:secret@10.0.0.5', 'ftp://10.0.0.5'],
    adminTls: { certFile: 'a', wrong: 1 },
    adminTimeoutMs: 1,
    addresses: ['nowhere'],
    httpPort: 443,
    defaultCertificate: { certFile: 'tls.crt' },
    other: true,
  })
  t.match(faults, [
    /^other: .* it knows: admin/,
    /^admin: must be/,
    /^admin: must be/,
    /^adminTls.wrong: is not known/,
    /^adminTls: certFile and keyFile belong together/,
    /^defaultCertificate: needs/,
    /^httpsPort: must be another/,
    /^adminTimeoutMs: must be a whole number/,
    /^addresses\[0\]: /,
  ])
  t.notMatch(faults.join(), /secret/)
  t.end()
})
