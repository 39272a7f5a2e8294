import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { createPinoLogger } from '../../src/adapters/logging/pino-logger.ts'
import type { Node } from '../../src/domain/node.ts'
import type { CloudProvider } from '../../src/provider/cloud.ts'
import {
  DiskNotFound,
  ImplementedElsewhere,
  InstanceNotFound,
  isProviderError,
  NotImplemented,
  RetryAfter,
  Terminal,
} from '../../src/provider/errors.ts'
import type { LoadBalancer, ProviderContext } from '../../src/provider/multicluster.ts'
import { describeProvider } from '../../src/provider/protocol/describe-provider.ts'
import { MEDIA_TYPE, OPERATIONS, type Operation } from '../../src/provider/protocol/operations.ts'
import { PROTOCOL_SCHEMAS } from '../../src/provider/protocol/protocol-schemas.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { createFakeClusterCloud } from '../../src/providers/fake/fake-cluster-cloud.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { examineProvider, formatReport } from '../../src/testing/conformance.ts'
import { buildNode, buildWeb, nodeKey, WEB } from '../support/build-cluster.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { loadOpenApi } from '../support/openapi.ts'
import { clientOf, parsedOptions, serveRemotely } from '../support/provider-server.ts'
import { createServiceWorld } from '../support/service-world.ts'
import { silentLogger } from '../support/silent-logger.ts'

// Hundreds of connections over TLS.
t.setTimeout(120_000)

const openapi = await loadOpenApi('openapi-provider.yaml')
const NODE: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, spec: { providerID: 'fake://i-1' } }

/** Everything that the protocol carries, in memory. */
function fake(): Provider & ReturnType<typeof createFakeProvider> {
  const clock = createManualClock()
  const { cloudProvider, machines } = createFakeClusterCloud({ clock })
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
  machines.put({ id: 'i-1', name: 'node-1', state: 'running', type: 'small', zone: 'a', region: 'r', addresses })
  return { ...createFakeProvider({ delayMs: 0, failure: () => undefined, clock }), cloudProvider }
}

/** The fake with another balancer of ingresses. */
function fakeWith(change: (right: LoadBalancer) => Partial<LoadBalancer>): Provider {
  const { loadBalancer, ...rest } = fake()
  if (loadBalancer === undefined) throw new TypeError('the fake serves no ingress')
  return { ...rest, loadBalancer: { ...loadBalancer, ...change(loadBalancer) } }
}

const INGRESS = buildIngress({ metadata: { uid: 'uid-1' } })
const IDENTITY = {
  clusterId: 'default',
  kind: 'MultiClusterIngress',
  namespace: 'default',
  name: 'web',
  uid: 'uid-1',
} as const

function contextOf(changes: Partial<ProviderContext> = {}): ProviderContext {
  return {
    signal: new AbortController().signal,
    logger: silentLogger,
    identity: IDENTITY,
    fence: '7',
    backends: { services: [] },
    certificates: [],
    fingerprint: 'f-1',
    ...changes,
  }
}

const get = ({ loadBalancer }: Provider, changes?: Partial<ProviderContext>) =>
  Promise.resolve(loadBalancer?.getLoadBalancer(INGRESS, contextOf(changes)))
const ensure = ({ loadBalancer }: Provider, changes?: Partial<ProviderContext>) =>
  Promise.resolve(loadBalancer?.ensureLoadBalancer(INGRESS, contextOf(changes)))

t.test('the fake behind TLS passes level 2 with every interface', async (t) => {
  const { provider } = await serveRemotely(t, fake())
  const report = await examineProvider({ createProvider: () => provider, level: 2, node: NODE })
  t.ok(report.passed, formatReport(report))
  const skipped = report.results.filter(({ outcome }) => outcome === 'skipped').map(({ check }) => check)
  t.strictSame(
    skipped,
    ['MultiClusterIngress', 'MultiClusterService', 'Service'].map((kind) => `${kind}/validate-is-pure`),
    'a provider elsewhere has no validate',
  )
  t.equal(report.results.length, 2 + 3 * (13 + 9) + 6 + 5)
})

t.test('a wrong provider fails through HTTP as well', async (t) => {
  const wrong = fakeWith(() => ({ ensureLoadBalancerDeleted: async () => {} }))
  const { provider } = await serveRemotely(t, wrong)
  const { results } = await examineProvider({ createProvider: () => provider, level: 1 })
  const failed = results.filter(({ outcome }) => outcome === 'failed').map(({ check }) => check)
  t.ok(failed.includes('MultiClusterIngress/delete-removes'))
  t.notOk(failed.some((check) => check.startsWith('MultiClusterService')))
})

t.test('what the provider is handed is what the caller had', async (t) => {
  const handed: { object: unknown; context: ProviderContext }[] = []
  const behind = fakeWith(() => ({
    ensureLoadBalancer: async (object, context) => {
      handed.push({ object, context })
      return {}
    },
  }))
  const { provider } = await serveRemotely(t, behind)
  const certificates = [{ hosts: ['a.example.com'], secretName: 's', certificate: 'PEM', key: 'KEY' }]
  t.strictSame(await ensure(provider, { certificates, fingerprint: 'all' }), {}, 'no status leaves what is published')
  const [{ object, context } = { object: undefined, context: contextOf() }] = handed
  t.strictSame(object, INGRESS)
  t.match(context, { identity: IDENTITY, fence: '7', fingerprint: 'all', certificates, backends: { services: [] } })
})

t.test('typed errors arrive as what they are', async (t) => {
  for (const thrown of [
    new RetryAfter(1_234.5, 'building'),
    new Terminal('no UDP'),
    new NotImplemented(),
    new ImplementedElsewhere(),
    new InstanceNotFound(),
    new DiskNotFound(),
  ]) {
    const behind = fakeWith(() => ({ getLoadBalancer: async () => Promise.reject(thrown) }))
    const { provider } = await serveRemotely(t, behind)
    const error = await get(provider).catch((found: unknown) => found)
    t.ok(isProviderError(error))
    t.match(error, { kind: thrown.kind, message: thrown.message })
    if (error instanceof RetryAfter) t.equal(error.afterMs, 1_235)
  }
  const odd = fakeWith(() => ({
    getLoadBalancer: async () => Promise.reject(new Error('line\none\u202e\u0000secret')),
  }))
  const { provider } = await serveRemotely(t, odd)
  const error = await get(provider).catch((found: unknown) => found)
  t.notOk(isProviderError(error))
  t.match(error, { message: 'line one secret' })
})

t.test('without a token, or with another, nothing is called', async (t) => {
  const behind = fake()
  const { url, files, send } = await serveRemotely(t, behind)
  writeFileSync(`${files.folder}/other`, 'a-token-of-somebody-else')
  const wrong = clientOf(t, behind, { url, caFile: files.caFile, tokenFile: `${files.folder}/other` })
  await t.rejects(get(wrong.provider), {
    message: `the provider at ${url} answers Unauthorized: show the bearer token of this provider (it does not know us: provider.options.tokenFile must hold a token of the provider)`,
  })
  const headers = { 'content-type': MEDIA_TYPE }
  for (const [method, path] of [
    ['POST', '/v1/load-balancer/get'],
    ['GET', '/v1/provider'],
    ['GET', '/metrics'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/../healthz'],
    ['GET', '//healthz'],
  ] as const) {
    const answer = await send(path, { method, headers, ...(method === 'POST' && { body: '{}' }) })
    // The client resolves `..` itself; it is the probe then.
    t.equal(answer.status, path === '/v1/../healthz' ? 200 : 401, `${method} ${path}`)
  }
  t.equal((await send('/healthz')).status, 200)
  t.strictSame(behind.cloud.calls(), [])
})

t.test('a token that is replaced is read again, on both sides', async (t) => {
  const clock = createManualClock(Date.now())
  const { provider, files } = await serveRemotely(t, fake(), { serverClock: clock, clientClock: clock })
  t.equal(await get(provider), undefined)
  writeFileSync(files.tokenFile, 'another-token-of-enough-length\n')
  await clock.advance(2_000)
  t.equal(await get(provider), undefined)
})

t.test('bodies are bounded on both sides, and the error says by what', async (t) => {
  const limits = { requestBytes: 4_000, answerBytes: 4_000 }
  const backends = { services: [{ namespace: 'a', name: 'b', ports: [], externalName: 'x'.repeat(200) }] }
  const many = { services: Array.from({ length: 40 }, () => backends.services[0] as (typeof backends.services)[0]) }

  const byClient = await serveRemotely(t, fake(), { options: { requestBytes: 4_000 } })
  await t.rejects(ensure(byClient.provider, { backends: many }), {
    message:
      /^the request to the provider at https:\S+ would have \d+ bytes, and provider\.options\.requestBytes is 4000/,
  })
  const byServer = await serveRemotely(t, fake(), { limits })
  await t.rejects(ensure(byServer.provider, { backends: many }), {
    message: /BodyTooLarge: the body may have at most 4000 bytes/,
  })

  const entries = Array.from({ length: 200 }, (_, index) => ({ hostname: `host-${index}.example.com` }))
  const talking = () => fakeWith(() => ({ getLoadBalancer: async () => ({ status: { ingress: entries } }) }))
  const answerOfServer = await serveRemotely(t, talking(), { limits })
  await t.rejects(get(answerOfServer.provider), {
    message: /AnswerTooLarge: the answer has \d+ bytes; at most 4000 are sent/,
  })
  const answerOfClient = await serveRemotely(t, talking(), { options: { answerBytes: 4_000 } })
  await t.rejects(get(answerOfClient.provider), {
    message: /answers more than 4000 bytes, which is provider\.options\.answerBytes/,
  })
})

t.test('at the deadline the server aborts what it asked, and says so', async (t) => {
  const aborted = Promise.withResolvers<unknown>()
  const behind = fakeWith(() => ({
    ensureLoadBalancer: (_ingress, { signal }) =>
      new Promise(() => signal.addEventListener('abort', () => aborted.resolve(signal.reason))),
  }))
  const { send, files } = await serveRemotely(t, behind)
  const context = { identity: IDENTITY, fence: '1', backends: { services: [] }, certificates: [], fingerprint: '' }
  const answer = await send('/v1/load-balancer/ensure', {
    method: 'POST',
    headers: { 'content-type': MEDIA_TYPE, authorization: `Bearer ${files.token}` },
    body: JSON.stringify({ object: INGRESS, context: { ...context, deadlineMs: 50 } }),
  })
  t.equal(answer.status, 504)
  t.match(JSON.parse(answer.body), { kind: 'DeadlineExceeded', detail: 'the provider has not answered within 50 ms' })
  t.match(await aborted.promise, { message: 'deadline of 50 ms reached' })
})

t.test('the client gives up at its own deadline, and at the caller’s', async (t) => {
  const behind = fakeWith(() => ({ getLoadBalancer: () => new Promise(() => {}) }))
  const { provider, url } = await serveRemotely(t, behind, { options: { timeoutMs: 200 } })
  await t.rejects(get(provider), {
    message: new RegExp(`^the provider at ${url} (has not answered within 200 ms|answers DeadlineExceeded)`),
  })
  const controller = new AbortController()
  const patient = await serveRemotely(t, behind)
  const call = get(patient.provider, { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('lock lost')), 50)
  await t.rejects(call, { message: 'lock lost' })
})

t.test('a connection that is cut in the middle of an ensure: the next get sees what it made', async (t) => {
  const begun = Promise.withResolvers<void>()
  const seen = Promise.withResolvers<unknown>()
  const behind = fakeWith((right) => ({
    ensureLoadBalancer: async (ingress, context) => {
      const result = await right.ensureLoadBalancer(ingress, context)
      begun.resolve()
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()))
      seen.resolve(context.signal.reason)
      return result
    },
  }))
  const { provider } = await serveRemotely(t, behind)
  const controller = new AbortController()
  const lost = ensure(provider, { signal: controller.signal })
  await begun.promise
  controller.abort(new Error('deadline'))
  await t.rejects(lost, { message: 'deadline' })
  t.match(await seen.promise, { message: 'the caller went away' }, 'the server aborts what it asked')
  t.match(await get(provider), { fingerprint: 'f-1', status: { ingress: [{ ip: /./ }] } })
})

t.test('a provider that is down is named, and is there again when it is', async (t) => {
  const { provider, stop, url } = await serveRemotely(t, fake())
  t.equal(await get(provider), undefined)
  await stop()
  const error = await get(provider).catch((found: unknown) => found)
  t.match(error, { message: new RegExp(`^the provider at ${url} cannot be reached, or closed the connection \\(`) })
  t.notOk(isProviderError(error), 'tried again with growing delay')
})

t.test('while it stops, a call is told to come back, and one under way is finished', async (t) => {
  const begun = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const behind = fakeWith((right) => ({
    ensureLoadBalancer: async (ingress, context) => {
      begun.resolve()
      await finish.promise
      return right.ensureLoadBalancer(ingress, context)
    },
  }))
  const { provider, stop } = await serveRemotely(t, behind)
  const underWay = ensure(provider)
  await begun.promise
  const stopped = stop()
  finish.resolve()
  t.match(await underWay, { status: { ingress: [{ ip: /./ }] } })
  await stopped
})

t.test('calls that outlast the time to stop are aborted', async (t) => {
  const begun = Promise.withResolvers<AbortSignal>()
  const behind = fakeWith(() => ({
    ensureLoadBalancer: (_ingress, { signal }) => {
      begun.resolve(signal)
      return new Promise(() => {})
    },
  }))
  const { provider, stop } = await serveRemotely(t, behind, { drainMs: 20 })
  const underWay = t.rejects(ensure(provider), { message: /DeadlineExceeded: the provider stopped before it was done/ })
  const signal = await begun.promise
  await stop()
  await underWay
  t.ok(signal.aborted)
})

t.test('a renewed certificate is served, and a renewed authority is believed, without a restart', async (t) => {
  const clock = createManualClock(Date.now())
  const { provider, files } = await serveRemotely(t, fake(), { serverClock: clock, clientClock: clock })
  t.equal(await get(provider), undefined)
  await files.reissue('new')
  await clock.advance(6_000)
  t.equal(await get(provider), undefined)
})

t.test('lists are paged, whole, and end', async (t) => {
  const behind = fake()
  const { provider } = await serveRemotely(t, behind)
  const uids = Array.from({ length: 1_203 }, (_, index) => `uid-${index}`)
  for (const uid of uids) await ensure(behind, { identity: { ...IDENTITY, uid } })
  const listing = { signal: new AbortController().signal, logger: silentLogger, clusterId: 'default' }
  const listed = await provider.loadBalancer?.listLoadBalancers?.(listing)
  t.strictSame(listed?.map(({ uid }) => uid).sort(), uids.toSorted())
})

t.test('a configuration that claims more than there is says what to change', async (t) => {
  const behind = { ...fakeWith(() => ({})), consistencyWindowMs: 5_000 }
  for (const { options, says } of [
    {
      options: { serves: { MultiClusterIngress: { list: true, externalName: true } } },
      says: 'provider.options.serves.MultiClusterIngress.externalName: the provider cannot do that; set it to false',
    },
    { options: { consistencyWindowMs: 10 }, says: 'provider.options.consistencyWindowMs: must be at least 5000' },
    {
      options: { cloud: { providerName: 'acme', hasClusterID: true } },
      says: 'provider.options.cloud.providerName: must be "fake", as the provider says',
    },
    {
      options: { serves: { MultiClusterIngress: {}, Service: { protocols: ['TCP', 'SCTP'], target: 'address' } } },
      says: 'provider.options.serves.Service.protocols: the provider has no SCTP; take it out; provider.options.serves.Service.target: must be instance, as the provider says',
    },
  ]) {
    const { provider } = await serveRemotely(t, behind, { options })
    const error = (await get(provider).catch((found: unknown) => found)) as Error
    t.ok(error.message.includes(says), error.message)
  }
  const bare = await serveRemotely(t, { name: 'bare', loadBalancer: behind.loadBalancer } as Provider, {
    options: { serves: { MultiClusterIngress: {}, MultiClusterService: {} } },
  })
  await t.rejects(get(bare.provider), {
    message: /serves\.MultiClusterService: the provider does not serve it; take it out/,
  })
  const less = await serveRemotely(t, behind, { options: { serves: { MultiClusterIngress: {} }, cloud: undefined } })
  t.equal(await get(less.provider), undefined, 'claiming less is nobody’s fault')
  t.equal(less.provider.mcsLoadBalancer, undefined)
})

t.test('faults of the options are told with their fields', async (t) => {
  const faultsOf = (options: object) => {
    try {
      parsedOptions({ ...options })
      return ''
    } catch (error) {
      return String(error)
    }
  }
  const serves = { MultiClusterIngress: {} }
  const good = { url: 'https://a.example.com:9443/base/', tokenFile: '/t', serves }
  t.equal(faultsOf(good), '')
  t.equal(parsedOptions(good).url, 'https://a.example.com:9443/base')
  for (const [changes, says] of [
    [{ url: 'http://a.example.com' }, /url: must be https/],
    [{ url: 'nowhere' }, /url: must be the URL/],
    [{ url: 'https://u:p@a.example.com' }, /url: must have no credentials/],
    [{ url: 'https://a.example.com?x' }, /url: must have no query/],
    [{ tokenFile: undefined }, /tokenFile: must name the file/],
    [{ clientCertFile: '/c' }, /clientCertFile: and clientKeyFile belong together/],
    [{ serves: {} }, /serves: must say what the provider serves/],
    [{ serves: { Ingress: {} } }, /serves\."Ingress": is no field here/],
    [{ serves: { MultiClusterIngress: { list: 'yes' } } }, /serves\.MultiClusterIngress\.list: must be boolean/],
    [{ serves: { routes: {} } }, /cloud: is required/],
    [{ timeoutMs: 5 }, /timeoutMs: must be a whole number from 100/],
    [{ tokn: 'x' }, /tokn: the http provider has no such option/],
  ] as const) {
    t.match(faultsOf({ ...good, ...changes }), says)
  }
})

// Servers that are wrong.

/** A plain server, as anybody could write one. */
async function wrongServer(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('what is no answer of the protocol is a failure, never "absent"', async (t) => {
  const description = JSON.stringify({ name: 'x', serves: { MultiClusterIngress: { list: true } } })
  for (const [title, status, type, body] of [
    ['nothing', 200, MEDIA_TYPE, ''],
    ['an empty object', 200, MEDIA_TYPE, '{}'],
    ['no JSON', 200, MEDIA_TYPE, '{"record": nul'],
    ['no UTF-8', 200, MEDIA_TYPE, Buffer.from('7b22ff227d', 'hex')],
    ['a page', 200, 'text/html', '<html></html>'],
    ['another version', 200, 'application/vnd.webhook-cloud-provider.v2+json', '{"record":null}'],
    ['no media type', 200, '', '{"record":null}'],
    ['no content', 204, '', ''],
    ['elsewhere', 302, 'text/html', ''],
    ['nothing there', 404, 'text/html', 'not found'],
    ['a proxy', 502, 'text/html', 'bad gateway'],
    ['a problem of another status', 404, 'application/problem+json', '{"kind":"Failed","status":500,"detail":"x"}'],
    ['a problem without its wait', 503, 'application/problem+json', '{"kind":"RetryAfter","status":503,"detail":"x"}'],
    ['a problem of no kind', 500, 'application/problem+json', '{"kind":"Gone","status":500,"detail":"x"}'],
  ] as const) {
    const url = await wrongServer(t, ({ url: path }, response) => {
      const isDescription = path === '/v1/provider'
      const headers = { 'content-type': isDescription ? MEDIA_TYPE : type }
      response.writeHead(isDescription ? 200 : status, headers['content-type'] === '' ? {} : headers)
      response.end(isDescription ? description : status === 204 ? undefined : body)
    })
    const { provider } = clientOf(t, { name: 'x' }, { url, insecure: true, serves: { MultiClusterIngress: {} } })
    const error = await get(provider).catch((found: unknown) => found)
    t.ok(error instanceof Error && !isProviderError(error), title)
    t.match(error, { message: new RegExp(url) }, `${title}: ${error}`)
  }
})

t.test('an answer with any field missing, of another type, or unknown is not believed', async (t) => {
  let sent: unknown
  const behind = fake()
  const url = await wrongServer(t, ({ url: path }, response) => {
    const body = path === '/v1/provider' ? describeProvider(behind) : sent
    response.writeHead(200, { 'content-type': MEDIA_TYPE }).end(JSON.stringify(body))
  })
  const { client } = clientOf(t, behind, { url, insecure: true })
  const signal = new AbortController().signal
  let tried = 0
  for (const operation of Object.keys(OPERATIONS) as Operation[]) {
    const media = ['paths', `/v1/${operation}`, 'post', 'responses', '200', 'content', MEDIA_TYPE]
    const right = openapi.node([...media, 'examples', 'one'])['value']
    const request = openapi.node([
      'paths',
      `/v1/${operation}`,
      'post',
      'requestBody',
      'content',
      MEDIA_TYPE,
      'examples',
      'one',
    ])
    const call = () => client.call(operation, request['value'] as never, signal)
    for (const { at, value } of mutations(right)) {
      if (value === undefined || openapi.checkValue([...media, 'schema'], value).length === 0) continue
      tried += 1
      const fault = await sentAs(value, call)
      t.match(fault, /answers \/v1\/\S+ with what the protocol does not know: \S+/, `${operation}: ${at}`)
    }
    t.ok(await sentAs(right, call).then((fault) => fault === undefined), `${operation}: the right one is believed`)
  }
  t.ok(tried > 150, `${tried} wrong answers`)

  async function sentAs(value: unknown, call: () => Promise<unknown>): Promise<string | undefined> {
    sent = value
    return call().then(
      () => undefined,
      (error: Error) => error.message,
    )
  }
})

/** The value with each node in it left out, or in its place something else; and with one more field in each object. */
function* mutations(value: unknown, at = ''): Generator<{ at: string; value: unknown }> {
  for (const other of [null, 7, 'text', true, [], {}, undefined]) {
    if (JSON.stringify(other) !== JSON.stringify(value)) yield { at: `${at} = ${JSON.stringify(other)}`, value: other }
  }
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield { at: `${at}.surplus`, value: { ...value, surplus: 1 } }
  for (const [name, child] of Object.entries(value)) {
    for (const mutation of mutations(child, `${at}.${name}`)) {
      const changed = Array.isArray(value) ? [...value] : { ...value }
      Object.assign(changed, { [name]: mutation.value })
      yield { at: mutation.at, value: changed }
    }
  }
}

t.test('another version is told as one, with what is spoken', async (t) => {
  const { send, files } = await serveRemotely(t, fake())
  const authorization = `Bearer ${files.token}`
  for (const headers of [
    { 'content-type': 'application/vnd.webhook-cloud-provider.v2+json' },
    { 'content-type': 'application/json' },
    { 'content-type': MEDIA_TYPE, accept: 'application/vnd.webhook-cloud-provider.v2+json' },
    { 'content-type': MEDIA_TYPE, 'content-encoding': 'gzip' },
  ]) {
    const sent = { method: 'POST', headers: { authorization, ...headers }, body: '{}' }
    const answer = await send('/v1/load-balancer/get', sent)
    t.equal(answer.status, 415)
    t.match(JSON.parse(answer.body), { kind: 'UnsupportedMediaType', spoken: [MEDIA_TYPE] })
    t.strictSame(openapi.check('POST', '/v1/load-balancer/get', answer), [])
  }
  const url = await wrongServer(t, (_request, response) => {
    const problem = {
      kind: 'UnsupportedMediaType',
      status: 415,
      detail: 'x',
      spoken: ['application/vnd.other.v9+json'],
    }
    response.writeHead(415, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
  })
  const { provider } = clientOf(t, fake(), { url, insecure: true })
  await t.rejects(get(provider), {
    message: `the provider at ${url} is of another version: it speaks application/vnd.other.v9+json, and this function speaks ${MEDIA_TYPE}; run versions that fit`,
  })
})

t.test('a list that does not end, or names what is another’s, is not believed', async (t) => {
  const listing = { signal: new AbortController().signal, logger: silentLogger, clusterId: 'default' }
  for (const { answer, says } of [
    { answer: { balancers: [IDENTITY], continue: 'again' }, says: /list does not end/ },
    {
      answer: { balancers: [{ ...IDENTITY, clusterId: 'another' }] },
      says: /lists MultiClusterIngress of cluster another/,
    },
    { answer: { balancers: [{ ...IDENTITY, kind: 'Service' }] }, says: /lists Service of cluster default/ },
  ]) {
    const url = await wrongServer(t, ({ url: path }, response) => {
      const body = path === '/v1/provider' ? { name: 'x', serves: { MultiClusterIngress: { list: true } } } : answer
      response.writeHead(200, { 'content-type': MEDIA_TYPE }).end(JSON.stringify(body))
    })
    const serves = { MultiClusterIngress: { list: true } }
    const { provider } = clientOf(t, { name: 'x' }, { url, insecure: true, serves })
    await t.rejects(Promise.resolve(provider.loadBalancer?.listLoadBalancers?.(listing)), { message: says })
  }
})

t.test('no message shows the token or a key, even where the other side echoes it', async (t) => {
  const token = 'a-very-secret-token-0123456789'
  const key = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----\n'
  for (const [status, echo, says] of [
    [
      500,
      { kind: 'Failed', status: 500, detail: `got Bearer ${token} and ${key}` },
      'got Bearer [redacted] and [redacted]',
    ],
    [422, { kind: 'Terminal', status: 422, detail: `got ${token}` }, 'got [redacted]'],
    [200, { name: 'x', serves: {}, [token]: 1 }, /: "\[redacted\]": is no field here$/],
  ] as const) {
    const url = await wrongServer(t, (_request, response) => {
      const type = status === 200 ? MEDIA_TYPE : 'application/problem+json'
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(echo))
    })
    const folder = t.testdir({ token })
    const { provider } = clientOf(t, fake(), { url, insecure: true, tokenFile: `${folder}/token` })
    await t.rejects(get(provider), { message: says })
  }
})

t.test('a kept connection that the other side has closed is no failure', async (t) => {
  for (const { cuts, tries } of [
    { cuts: 1, tries: 2 },
    { cuts: 9, tries: 2 },
  ]) {
    let asked = 0
    const url = await wrongServer(t, ({ url: path, socket }, response) => {
      const isDescription = path === '/v1/provider'
      if (!isDescription) asked += 1
      if (!isDescription && asked <= cuts) return socket.destroy()
      const body = isDescription ? { name: 'x', serves: { MultiClusterIngress: {} } } : { record: null }
      return response.writeHead(200, { 'content-type': MEDIA_TYPE }).end(JSON.stringify(body))
    })
    const { provider } = clientOf(t, { name: 'x' }, { url, insecure: true, serves: { MultiClusterIngress: {} } })
    if (cuts === 1) t.equal(await get(provider), undefined)
    else await t.rejects(get(provider), { message: /cannot be reached, or closed the connection \(UND_ERR_SOCKET\)/ })
    t.equal(asked, tries, 'it is asked once more, and no third time')
  }
})

t.test('a problem of a newer provider is a failure that says what it says; a long one is cut', async (t) => {
  const sent = { status: 507, kind: 'QuotaExceeded', detail: 'no\u0007more\u202eaddresses', retryAfterMs: 0 }
  const url = await wrongServer(t, (_request, response) => {
    response.writeHead(sent.status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(sent))
  })
  const { provider } = clientOf(t, fake(), { url, insecure: true })
  const error = await get(provider).catch((found: unknown) => found)
  t.notOk(isProviderError(error))
  t.match(error, { message: `the provider at ${url} answers 507 to /v1/provider: QuotaExceeded: no more addresses` })

  Object.assign(sent, { status: 503, kind: 'RetryAfter', detail: 'x'.repeat(1_000_000), retryAfterMs: 20 })
  const later = await get(provider).catch((found: unknown) => found)
  t.match(later, { kind: 'RetryAfter', afterMs: 20, message: /^x{999}…$/ })
})

t.test('a redirect is not followed: the token goes to nobody else', async (t) => {
  let called = 0
  const elsewhere = await wrongServer(t, (_request, response) => {
    called += 1
    response.end()
  })
  for (const status of [301, 302, 307, 308]) {
    const url = await wrongServer(t, ({ url: path }, response) => {
      response.writeHead(status, { location: `${elsewhere}${path}` }).end()
    })
    const { provider } = clientOf(t, fake(), { url, insecure: true })
    await t.rejects(get(provider), { message: new RegExp(`answers ${status} to .*is provider.options.url the URL`) })
  }
  t.equal(called, 0)
})

t.test('a token file that is empty for a moment changes nothing; one without a token says so', async (t) => {
  const clock = createManualClock(Date.now())
  const { provider, files, url } = await serveRemotely(t, fake(), { clientClock: clock })
  t.equal(await get(provider), undefined)
  writeFileSync(files.tokenFile, '')
  await clock.advance(2_000)
  t.equal(await get(provider), undefined)
  for (const [text, says] of [
    ['\n', /^provider\.options\.tokenFile: \S+ holds no token$/],
    ['tökén-of-enough-length', /^provider\.options\.tokenFile: the first line of \S+ is no token/],
  ] as const) {
    const tokenFile = `${t.testdir({ token: text })}/token`
    const { provider } = clientOf(t, fake(), { url, caFile: files.caFile, tokenFile })
    await t.rejects(get(provider), { message: says })
  }
})

t.test('first calls at one time share one pool', async (t) => {
  const sockets = new Set<unknown>()
  const url = await wrongServer(t, ({ url: path, socket }, response) => {
    sockets.add(socket)
    const body = path === '/v1/provider' ? { name: 'x', serves: { MultiClusterIngress: {} } } : { record: null }
    response.writeHead(200, { 'content-type': MEDIA_TYPE }).end(JSON.stringify(body))
  })
  const options = { url, insecure: true, connections: 1, serves: { MultiClusterIngress: {} } }
  const { provider } = clientOf(t, { name: 'x' }, options)
  await Promise.all(Array.from({ length: 8 }, () => get(provider)))
  t.equal(sockets.size, 1)
})

t.test(
  'the whole function in front of a cloud elsewhere: a node, its route and a Service of one cluster',
  async (t) => {
    const { cloudProvider, machines, routes, balancers } = createFakeClusterCloud({ clock: createManualClock() })
    const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }]
    machines.put({ id: 'i-1', name: 'n1', state: 'running', type: 'small', zone: 'a', region: 'r', addresses })
    const { provider } = await serveRemotely(t, { name: 'fake', cloudProvider })
    if (provider.cloudProvider === undefined) throw new TypeError('it serves no cloud')
    const taints = [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }]
    const world = createServiceWorld({
      cloudProvider: provider.cloudProvider,
      config: 'cloud: { configureCloudRoutes: true, clusterCidr: 10.244.0.0/16 }',
      objects: [buildNode(1, { spec: { podCIDRs: ['10.244.1.0/24'], taints } }), buildWeb()],
    })
    t.teardown(() => world.runtime.app.close())
    for (let round = 0; round < 3; round += 1) await world.sweep()
    t.match(world.read(nodeKey(1))?.spec, { providerID: 'fake://i-1' })
    t.notOk(JSON.stringify(world.read(nodeKey(1))?.spec).includes('uninitialized'))
    t.match(world.read(WEB)?.status?.loadBalancer, { ingress: [{ ip: /./ }] })
    t.match(routes.all(), [{ destinationCIDR: '10.244.1.0/24' }])
    t.equal(balancers.all().length, 1)
    await world.remove(WEB)
    await world.sweep()
    t.equal(world.read(WEB), undefined)
    t.strictSame(balancers.all(), [])
  },
)

// The document and the code.

t.test('the schemas of the document are those of the code', async (t) => {
  t.strictSame(withoutProse(openapi.node(['components', 'schemas'])), PROTOCOL_SCHEMAS)
})

function withoutProse(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutProse)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).filter(([name, value]) => name !== 'description' || typeof value !== 'string')
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutProse(value)]))
}

t.test('every operation is in the document, with its schemas, and every path is answered', async (t) => {
  const { send, files } = await serveRemotely(t, fake())
  const operations = Object.keys(OPERATIONS).map((operation) => `POST /v1/${operation}`)
  t.strictSame(
    openapi.operations.toSorted(),
    ['GET /healthz', 'GET /metrics', 'GET /v1/provider', ...operations].toSorted(),
  )
  for (const [operation, { request, answer }] of Object.entries(OPERATIONS)) {
    const { requestBody, responses } = openapi.node(['paths', `/v1/${operation}`, 'post']) as Record<string, unknown>
    t.match(JSON.stringify(requestBody), `{"$ref":"#/components/schemas/${request}"}`)
    t.match(JSON.stringify(responses), `{"$ref":"#/components/schemas/${answer}"}`)
  }
  const authorization = `Bearer ${files.token}`
  for (const operation of openapi.operations) {
    const [method = '', path = ''] = operation.split(' ')
    const content = ['paths', path, method.toLowerCase(), 'requestBody', 'content', MEDIA_TYPE]
    const body = method === 'POST' ? JSON.stringify(openapi.node([...content, 'examples', 'one'])['value']) : undefined
    const headers = { authorization, ...(body !== undefined && { 'content-type': MEDIA_TYPE }) }
    const answer = await send(path, { method, headers, ...(body !== undefined && { body }) })
    t.strictSame(openapi.check(method, path, answer), [], `${operation}: ${answer.status} ${answer.body.slice(0, 200)}`)
    t.ok(answer.status < 600 && answer.status !== 404 && answer.status !== 400, `${operation}: ${answer.body}`)
    const refused = await send(path, { method, ...(body !== undefined && { body }) })
    if (path !== '/healthz') t.strictSame([refused.status, openapi.check(method, path, refused)], [401, []])
  }
})

t.test('every example of the document is what its schema says', async (t) => {
  let found = 0
  for (const { pointer, value } of examplesIn(openapi.document, [])) {
    found += 1
    t.strictSame(openapi.checkValue([...pointer.slice(0, -2), 'schema'], value), [], pointer.join('/'))
  }
  t.ok(found > 50, `${found} examples`)
})

function* examplesIn(node: unknown, pointer: string[]): Generator<{ pointer: string[]; value: unknown }> {
  if (typeof node !== 'object' || node === null) return
  for (const [name, child] of Object.entries(node)) {
    if (pointer.at(-1) === 'examples') yield { pointer: [...pointer, name], value: (child as { value: unknown }).value }
    else yield* examplesIn(child, [...pointer, name])
  }
}

t.test('a request with a fault is refused with its field, and nothing is called', async (t) => {
  const behind = fake()
  const { send, files } = await serveRemotely(t, behind)
  const headers = { authorization: `Bearer ${files.token}`, 'content-type': MEDIA_TYPE }
  const context = { identity: IDENTITY, fence: '1', deadlineMs: 1_000 }
  for (const [body, says] of [
    ['', 'body: must be JSON'],
    ['{', 'body: must be JSON'],
    ['{"__proto__":{}}', 'body: must be JSON'],
    ['[]', 'body: must be object'],
    [{ object: INGRESS }, 'context: is missing'],
    [{ object: INGRESS, context: { ...context, deadlineMs: 0 } }, 'context.deadlineMs: must be >= 1'],
    [{ object: INGRESS, context: { ...context, identity: { ...IDENTITY, uid: '' } } }, 'context.identity.uid: must'],
    [{ object: { ...INGRESS, kind: 'MultiClusterService' }, context }, 'object.kind: must be MultiClusterIngress'],
    [
      { object: INGRESS, context: { ...context, identity: { ...IDENTITY, kind: 'Service' } } },
      'context.identity.kind: must be MultiClusterIngress',
    ],
  ] as const) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await send('/v1/load-balancer/get', { method: 'POST', headers, body: text })
    t.equal(answer.status, 400, text)
    t.match(JSON.parse(answer.body).detail, says)
    t.strictSame(openapi.check('POST', '/v1/load-balancer/get', answer), [])
  }
  for (const [method, path, status] of [
    ['GET', '/v1/load-balancer/get', 405],
    ['POST', '/v1/load-balancer/purge', 404],
    ['GET', '/v1/%2e%2e/provider', 404],
    ['POST', '/v1/provider', 405],
    ['GET', '/%ff', 404],
  ] as const) {
    const answer = await send(path, { method, headers, ...(method === 'POST' && { body: '{}' }) })
    t.equal(answer.status, status, `${method} ${path}`)
    t.equal(answer.headers['content-type'], 'application/problem+json')
  }
  t.strictSame(behind.cloud.calls(), [])
})

t.test('what is counted: operations by name, never paths of strangers', async (t) => {
  const { provider, send, files } = await serveRemotely(t, fake())
  await get(provider)
  await send('/v1/secret-path')
  const headers = { authorization: `Bearer ${files.token}` }
  const { body } = await send('/metrics', { headers })
  t.match(body, /provider_server_requests_total\{operation="load-balancer\/get",problem=""\} 1/)
  t.match(body, /provider_server_requests_total\{operation="none",problem="Unauthorized"\} 1/)
  t.match(body, /serving_certificate_expiry_timestamp_seconds 1\d{9}/)
  t.notMatch(body, /secret-path/)
})

t.test('the log names what failed, and who was refused, without a secret', async (t) => {
  const lines: string[] = []
  const logger = createPinoLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  const behind = fakeWith(() => ({
    ensureLoadBalancer: async (_ingress, context) => {
      context.logger.info({}, 'at work')
      throw new Error(`no room for ${context.certificates[0]?.key}`)
    },
  }))
  const { provider, send, files } = await serveRemotely(t, behind, { logger })
  const key = '-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----\n'
  await t.rejects(ensure(provider, { certificates: [{ hosts: [], key }] }), { message: 'no room for [redacted]' })
  await send('/metrics', { headers: { authorization: 'Bearer of-somebody-else-altogether' } })
  const found = lines.map((line) => JSON.parse(line))
  const subject = {
    operation: 'load-balancer/ensure',
    key: 'MultiClusterIngress/default/web',
    uid: 'uid-1',
    clusterId: 'default',
  }
  t.match(
    found.find(({ msg }) => msg === 'a call failed'),
    { ...subject, level: 40, problem: 'Failed', error: 'no room for [redacted]' },
  )
  t.match(
    found.find(({ msg }) => msg === 'at work'),
    subject,
    'what the provider logs says so too',
  )
  t.match(
    found.find(({ msg }) => msg === 'caller refused'),
    { level: 40, reason: 'unknown', remoteAddress: '127.0.0.1' },
  )
  for (const secret of [files.token, 'MIGHAgEA', 'of-somebody-else']) t.notMatch(lines.join('\n'), secret)
})

t.test('warnings and findings are cut, and cost no answer', async (t) => {
  const behind = fake()
  const message = `\u202e${'x'.repeat(5_000)}`
  const balancer = behind.cloudProvider?.loadBalancer()
  const loadBalancer = () =>
    balancer && {
      ...balancer,
      ensureLoadBalancer: async () => ({ warnings: [{ reason: 'OptionNotApplied' as const, message }] }),
      validate: () => [{ field: 'spec', reason: 'FieldValueInvalid' as const, message }],
    }
  const cloudProvider = { ...(behind.cloudProvider as CloudProvider), loadBalancer }
  const { provider, client } = await serveRemotely(t, { ...behind, cloudProvider })
  const context = { ...contextOf(), identity: { ...IDENTITY, kind: 'Service' as const }, clusterId: 'default' }
  const making = { ...context, options: {}, sourceRanges: ['0.0.0.0/0'], healthCheck: undefined }
  const remote = provider.cloudProvider?.loadBalancer()
  const result = await remote?.ensureLoadBalancer('kubernetes', buildWeb(), [], making)
  t.match(result, { warnings: [{ reason: 'OptionNotApplied', message: /^x{999}…$/ }] })
  const asked = { object: buildWeb(), context: { options: {} } }
  const { findings } = await client.call('service-load-balancer/validate', asked, context.signal)
  t.match(findings, [{ message: /^x{999}…$/ }])
})
