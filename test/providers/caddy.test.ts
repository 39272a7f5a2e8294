import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import t, { type Test } from 'tap'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import type { Backends } from '../../src/domain/backends/backends.ts'
import type { Certificate } from '../../src/domain/backends/resolve-certificates.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { LoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import type { CaddyOptions } from '../../src/providers/caddy/caddy-options.ts'
import { createCaddyProvider } from '../../src/providers/caddy/caddy-provider.ts'
import { examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { buildIngress } from '../support/build-objects.ts'
import { caddyMissing, freePort, type RunningCaddy, startCaddy } from '../support/caddy.ts'
import { type Echo, type EchoServer, startEchoServer } from '../support/echo-server.ts'
import { describeRow, ingressOfRow, PATH_TABLE, serviceOfRow } from '../support/path-table.ts'
import { silentLogger } from '../support/silent-logger.ts'

const skip = caddyMissing(process.env)
const real = skip === undefined ? {} : { skip }

/** A real Caddy, backends on loopback addresses, and the provider in front of it. */
interface CaddyWorld {
  caddy: RunningCaddy
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
  t.teardown(async () => {
    await caddy.close()
    await echo.close()
  })
  const options: CaddyOptions = {
    admin: [new URL(caddy.admin)],
    adminTimeoutMs: 10_000,
    addresses: [{ name: 'default', addresses: [{ family: 'IPv4', ip: '192.0.2.1', listen: '127.0.2.1' }] }],
    httpPort: await freePort(),
    httpsPort: await freePort(),
    ...overrides,
  }
  const another = (changes: Partial<CaddyOptions> = {}) => balancerOf({ ...options, ...changes })
  return {
    caddy,
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
      const certificate = 'getPeerCertificate' in response.socket ? response.socket.getPeerCertificate() : undefined
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      const isEcho = response.headers['content-type'] === 'application/json'
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: text,
        echo: (isEcho ? JSON.parse(text) : { address: '' }) as Echo,
        ...(certificate === undefined ? {} : { commonName: certificate.subject?.CN as string }),
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
