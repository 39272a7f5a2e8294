import { writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import type { Backends } from '../../src/domain/backends/backends.ts'
import type { Certificate } from '../../src/domain/backends/resolve-certificates.ts'
import { ANNOTATION_PREFIX } from '../../src/domain/balancer-annotations/parse-annotations.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { LoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import type { CaddyOptions } from '../../src/providers/caddy/caddy-options.ts'
import { createCaddyProvider } from '../../src/providers/caddy/caddy-provider.ts'
import { examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { buildIngress } from '../support/build-objects.ts'
import { type AdminTunnel, caddyMissing, freePort, type RunningCaddy, startCaddy } from '../support/caddy.ts'
import { type Echo, type EchoServer, startEchoServer } from '../support/echo-server.ts'
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
    ask: (target, headers = {}, init = {}) => ask(options, target, headers, init),
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
  const routeOfBalancer = '/config/apps/http/servers/webhook-cloud-provider-127.0.2.1/routes/1/handle/0/routes'
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

const theirs = (index: number) => ({ listen: [`127.0.3.${index + 1}:1`], routes: [] })
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

  for (const [certificate, fault] of [
    [{ ...exact, certificate: 'nonsense' }, /secret shop.exact: the certificate is no PEM/],
    [{ ...exact, key: 'nonsense' }, /secret shop.exact: the key is no PEM/],
    [{ ...exact, key: wildcard.key }, /secret shop.exact: the key is not that of the certificate/],
  ] as [Certificate, RegExp][]) {
    await t.rejects(put([certificate]), fault)
  }
  t.match(await over('c.example.com'), { status: 200 }, 'what serves keeps serving')
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
    ['PATCH', `${server}/routes/1/handle/0/routes/0/handle/0/upstreams`, [{ dial: '127.0.1.66:1' }]],
    ['DELETE', `${server}/routes/1/handle/0/routes/0`, undefined],
    ['PATCH', `${server}/routes/1/handle/0/routes/2/handle/0/webhook-cloud-provider/assigned/pool`, 'mine'],
    ['DELETE', `${server}/routes/1/handle/0/routes/2/handle/0/webhook-cloud-provider/identity`, undefined],
  ]
  for (const [method, path, value] of edits) {
    await caddy.change(method, path, value)
    const record = await balancer.getLoadBalancer(object, context)
    t.ok(record !== undefined && record.fingerprint === undefined, `${method} ${path}`)
    t.equal((await balancer.updateLoadBalancer(object, context)).changed, true)
    t.equal((await balancer.getLoadBalancer(object, context))?.fingerprint, 'one')
    t.equal((await ask('/', { host: 'shop.example.com' })).status, 200)
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
  const record = await another({ addresses: [] }).getLoadBalancer(object, context)
  t.equal(record?.fingerprint, undefined, 'by other settings it is outdated')
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
