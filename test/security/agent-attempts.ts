import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { createTokenFileProof } from '../../src/adapters/callers/token-file-proof.ts'
import { createServer } from '../../src/adapters/http/create-server.ts'
import { createRefusalLog } from '../../src/adapters/http/refusal-log.ts'
import { createPinoLogger } from '../../src/adapters/logging/pino-logger.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { buildProviderApp } from '../../src/adapters/provider-server/provider-app.ts'
import { createProtocolValidator } from '../../src/adapters/schema/create-protocol-validator.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { PROVIDER_SERVER_CATALOGUE } from '../../src/compose/metric-catalogue.ts'
import { MEDIA_TYPE } from '../../src/provider/protocol/operations.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createTestAuthority } from '../support/test-authority.ts'
import { message, type Sent } from './attempt.ts'
import { exchange } from './bench.ts'

/** A provider that is served alone, behind TLS and a token, with one balancer. Slow requests may be slow for a second. */
export interface AgentBench {
  token: string
  raw(bytes: string | Buffer | readonly (string | Buffer)[], options?: ConnectionOptions): Promise<string>
  /** Every balancer, and how often anything was asked of the provider. */
  state(): string
  metrics(): Promise<string>
  logLines: string[]
  secrets: string[]
  close(): Promise<void>
}

const IDENTITY = {
  clusterId: 'default',
  kind: 'MultiClusterIngress',
  namespace: 'shop',
  name: 'web',
  uid: 'u',
} as const
const KEY = '-----BEGIN PRIVATE KEY-----\nTHE-KEY-OF-A-SHOP\n-----END PRIVATE KEY-----\n'

export async function startAgentBench(): Promise<AgentBench> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-security-'))
  const clock = createSystemClock()
  const logLines: string[] = []
  const logger = createPinoLogger({ level: 'debug', destination: { write: (line) => void logLines.push(line) } })
  const authority = await createTestAuthority()
  const serving = await authority.issue({
    commonNames: ['agent'],
    alternatives: [{ type: 'ip', value: '127.0.0.1' }],
    usage: 'server',
  })
  const token = randomBytes(24).toString('base64url')
  const path = join(folder, 'token')
  writeFileSync(path, `${token}\n`)
  const provider = createFakeProvider({ delayMs: 0, failure: () => undefined, clock })
  await provider.loadBalancer?.ensureLoadBalancer(buildIngress(), {
    signal: new AbortController().signal,
    logger,
    identity: IDENTITY,
    fence: '1',
    backends: { services: [] },
    certificates: [],
    fingerprint: 'f',
  })
  const metrics = createPrometheusMetrics(PROVIDER_SERVER_CATALOGUE)
  const app = buildProviderApp(provider, {
    clock,
    logger,
    metrics,
    metricsText: () => metrics.text(),
    validate: createProtocolValidator(),
    caller: createTokenFileProof({ path, field: '--token-file' }, { clock, logger }),
    logRefusal: createRefusalLog({ clock, logger }),
    limits: { requestBytes: 100_000, answerBytes: 100_000 },
    draining: () => false,
    stopped: new AbortController().signal,
    serverFactory: (handler) => createServer(handler, serving, { keepAliveMs: 5_000, requestMs: 1_000, checkMs: 200 }),
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return {
    token,
    raw: (bytes, options = {}) =>
      exchange([bytes].flat(), { host: '127.0.0.1', port, ca: authority.caPem, ...options }),
    state: () => JSON.stringify({ balancers: provider.cloud.balancers(), calls: provider.cloud.calls().length }),
    metrics: () => metrics.text(),
    logLines,
    secrets: [token, serving.key, 'THE-KEY-OF-A-SHOP'],
    async close() {
      await app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One thing that is tried on the agent. */
interface AgentAttempt {
  name: string
  send: (bench: AgentBench) => Promise<string>
  answers: readonly number[]
}

const CALL = {
  object: { apiVersion: 'networking.karmada.io/v1alpha1', kind: 'MultiClusterIngress', metadata: { name: 'web' } },
  context: {
    identity: IDENTITY,
    fence: '1',
    deadlineMs: 1_000,
    backends: { services: [] },
    certificates: [{ hosts: [], key: KEY }],
    fingerprint: 'g',
  },
}
const DELETE = '/v1/load-balancer/delete'
const headers = (more: Record<string, string> = {}) => ({ 'content-type': MEDIA_TYPE, ...more })

const post = (bench: AgentBench, more: Partial<Sent> = {}) =>
  bench.raw(message({ path: DELETE, body: CALL, ...more, headers: headers(more.headers) }))
const known = (bench: AgentBench, more: Partial<Sent> = {}) => post(bench, { token: bench.token, ...more })
const verbatim = (bench: AgentBench, text: string) =>
  bench.raw(text.replaceAll('\n', '\r\n').replaceAll('TOKEN', bench.token))

const HIDDEN = `POST ${DELETE} HTTP/1.1\nhost: x\nauthorization: Bearer TOKEN\ncontent-length: 0\n\n`

/** Each by somebody without the token. */
const STRANGERS: readonly (Partial<Sent> & { name: string; status?: number })[] = [
  { name: 'no token' },
  { name: 'another token', token: 'a-token-of-somebody-else' },
  { name: 'a token of no proper letters', token: '"><script>' },
  { name: 'basic credentials', headers: { authorization: 'Basic YTpi' } },
  { name: 'the token in the query', path: `${DELETE}?access_token=x` },
  { name: 'the description', method: 'GET', path: '/v1/provider', body: '' },
  { name: 'the metrics', method: 'GET', path: '/metrics', body: '' },
  { name: 'a path that is none', path: '/v1/secrets' },
  { name: 'dots from the probe', path: `/healthz/..${DELETE}` },
  { name: 'a doubled slash', path: `/${DELETE}` },
  { name: 'an encoded letter', path: DELETE.replace('delete', '%64elete') },
  { name: 'a broken escape', path: `${DELETE}%zz`, status: 404 },
  { name: 'the probe by POST', path: '/healthz' },
  { name: 'another method by header', path: '/healthz', headers: { 'x-http-method-override': 'GET' } },
  { name: 'TRACE', method: 'TRACE', body: '' },
  { name: 'a forwarded address', headers: { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' } },
  { name: 'a web socket', headers: { connection: 'Upgrade, close', upgrade: 'websocket' } },
]

export const AGENT_ATTEMPTS: readonly AgentAttempt[] = [
  ...STRANGERS.map(({ name, status = 401, ...more }) => ({
    name,
    answers: [status],
    send: (bench: AgentBench) => post(bench, more),
  })),
  {
    name: 'two tokens, one of them good',
    answers: [401],
    send: (bench) =>
      verbatim(
        bench,
        `POST ${DELETE} HTTP/1.1\nhost: x\nauthorization: Bearer x\nauthorization: Bearer TOKEN\ncontent-length: 0\nconnection: close\n\n`,
      ),
  },
  {
    name: 'smuggling: length and chunks',
    answers: [400],
    send: (bench) =>
      verbatim(
        bench,
        `POST ${DELETE} HTTP/1.1\nhost: x\ncontent-length: 6\ntransfer-encoding: chunked\n\n0\n\n${HIDDEN}`,
      ),
  },
  {
    name: 'smuggling: a request in the body of a refused one',
    answers: [401],
    send: (bench) => post(bench, { body: HIDDEN.replaceAll('\n', '\r\n'), headers: { connection: 'keep-alive' } }),
  },
  {
    name: 'a huge header',
    answers: [431],
    send: (bench) => post(bench, { headers: { cookie: 'x'.repeat(100_000) } }),
  },
  // With a stolen token: no more than the protocol says.
  { name: 'stolen token: no media type', answers: [415], send: (b) => known(b, { headers: { 'content-type': '' } }) },
  {
    name: 'stolen token: compressed',
    answers: [415],
    send: (b) => known(b, { headers: { 'content-encoding': 'br' } }),
  },
  { name: 'stolen token: too much', answers: [413], send: (b) => known(b, { body: 'x'.repeat(100_001) }) },
  { name: 'stolen token: no JSON', answers: [400], send: (b) => known(b, { body: `{"key":"${b.token}` }) },
  {
    name: 'stolen token: a prototype',
    answers: [400],
    send: (bench) => known(bench, { body: `{"__proto__":{"polluted":1},${JSON.stringify(CALL).slice(1)}` }),
  },
  {
    name: 'stolen token: a deep one',
    answers: [400],
    send: (bench) => known(bench, { body: '['.repeat(90_000) }),
  },
  {
    name: 'stolen token: a number that is none',
    answers: [400],
    send: (bench) => known(bench, { body: JSON.stringify(CALL).replace('1000', '1e999') }),
  },
  {
    name: 'stolen token: an identity of another kind',
    answers: [400],
    send: (bench) => known(bench, { path: '/v1/mcs-load-balancer/delete' }),
  },
]

export const SLOW_AGENT_ATTEMPTS: readonly AgentAttempt[] = [
  {
    name: 'slow headers',
    answers: [408],
    send: (bench) => verbatim(bench, `POST ${DELETE} HTTP/1.1\nhost: x\nx-slow: `),
  },
  {
    name: 'stolen token: a slow body',
    answers: [408],
    send: (bench) =>
      verbatim(
        bench,
        `POST ${DELETE} HTTP/1.1\nhost: x\ncontent-type: ${MEDIA_TYPE}\nauthorization: Bearer TOKEN\ncontent-length: 1000\n\n{`,
      ),
  },
  {
    name: 'a slow body by a stranger',
    answers: [401],
    send: (bench) =>
      verbatim(bench, `POST ${DELETE} HTTP/1.1\nhost: x\ncontent-type: ${MEDIA_TYPE}\ncontent-length: 1000\n\n{`),
  },
  { name: 'a connection that says nothing', answers: [408], send: (bench) => bench.raw([]) },
]

/** Whoever has the token is served. */
export async function statusOfGood(bench: AgentBench): Promise<string> {
  return known(bench, { path: '/v1/load-balancer/ensure' })
}
