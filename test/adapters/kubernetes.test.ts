import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createProxyServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { loadKubeConfig } from '../../src/adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../../src/adapters/kubernetes/kubernetes-cluster-store.ts'
import type { KubernetesSource } from '../../src/adapters/kubernetes/read-kubeconfig.ts'
import { isCatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ClusterStore } from '../../src/ports/cluster-store.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { type StubAnswer, type StubRequest, startStubApiServer } from '../support/stub-api-server.ts'

const INGRESS = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' } as const
const TOKEN = 'sesame-open-up'
/** In every answer of the stub that is no success: nothing of it may be told on. */
const SECRET = 'certificate-of-the-bank'

const folder = mkdtempSync(join(tmpdir(), 'kubernetes-adapter-'))
t.teardown(() => rmSync(folder, { recursive: true }))
let files = 0

function write(content: string | object, mode = 0o600): string {
  files += 1
  const path = join(folder, `file-${files}`)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode })
  return path
}

interface KubeconfigParts {
  server: string
  cluster?: object
  user?: object
}

function buildKubeconfig({ server, cluster = {}, user = { token: TOKEN } }: KubeconfigParts) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  }
}

interface StoreParts {
  cluster?: object
  user?: object
  server?: string
  timeoutMs?: number
}

async function setUp(t: Tap, parts: StoreParts = {}) {
  const stub = await startStubApiServer()
  const trusted = { 'certificate-authority-data': Buffer.from(stub.caPem).toString('base64') }
  const { server = stub.url, cluster = trusted, user = { token: TOKEN }, timeoutMs = 5_000 } = parts
  const clock = createManualClock()
  const path = write(buildKubeconfig({ server, cluster, user }))
  const store = createKubernetesClusterStore(loadKubeConfig({ kind: 'file', path }), { timeoutMs, clock })
  t.teardown(async () => {
    await store.close()
    await stub.close()
  })
  return { stub, store, clock }
}

type Tap = { teardown(fn: () => Promise<void>): unknown }

const signal = new AbortController().signal
const STORED = buildIngress({ metadata: { uid: 'u1', resourceVersion: '7' } })
const served: StubAnswer = { status: 200, body: STORED }

/** Every way to use the store. */
const CALLS: Record<string, (store: ClusterStore, signal: AbortSignal) => Promise<unknown>> = {
  get: (store, signal) => store.get(INGRESS, { signal }),
  list: (store, signal) => store.list('MultiClusterIngress', { signal, limit: 5 }),
  create: (store, signal) =>
    store.create('MultiClusterIngress', buildIngress({ metadata: { labels: { key: SECRET } } }), { signal }),
  merge: (store, signal) =>
    store.patch(INGRESS, { type: 'merge', body: { spec: { tls: SECRET } } }, { signal, subresource: 'status' }),
  json: (store, signal) =>
    store.patch(INGRESS, { type: 'json', operations: [{ op: 'add', path: '/spec', value: SECRET }] }, { signal }),
}

/** The error of each call, as far as decisions are made on it; its text must not give anything away. */
async function failures(t: { notOk: Test['notOk'] }, store: ClusterStore, signal = new AbortController().signal) {
  const found: Record<string, string> = {}
  for (const [name, call] of Object.entries(CALLS)) {
    try {
      found[name] = `answered ${JSON.stringify(await call(store, signal))}`
    } catch (error) {
      const told = error instanceof Error ? error.message : String(error)
      t.notOk(told.includes(TOKEN) || told.includes(SECRET) || told.includes('<'), `${name}: ${told}`)
      found[name] = isCatalogueError(error) ? error.code : told
    }
  }
  return found
}

type Test = typeof t

const each = (code: string) => ({ get: code, list: code, create: code, merge: code, json: code })

function status(code: number, reason: string, rest: object = {}): StubAnswer {
  return {
    status: code,
    body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, ...rest },
  }
}

function page(code: number, headers: Record<string, string> = {}): StubAnswer {
  return { status: code, headers: { 'content-type': 'text/html', ...headers }, body: `<html>${SECRET}</html>` }
}

const named = { details: { name: 'storefront', kind: 'multiclusteringresses' } }

t.test('what the API server says, in our own terms', async (t) => {
  const { stub, store } = await setUp(t)
  for (const { title, answer, codes } of [
    { title: '401', answer: status(401, 'Unauthorized'), codes: each('ApiUnauthorized') },
    { title: '403', answer: status(403, 'Forbidden', named), codes: each('ApiForbidden') },
    { title: '403 in HTML', answer: page(403), codes: each('ApiForbidden') },
    {
      title: '404 of the object',
      answer: status(404, 'NotFound', named),
      codes: { ...each('NotFound'), get: 'answered undefined' },
    },
    {
      title: '404 of something else',
      answer: status(404, 'NotFound', { details: { name: 'shop', kind: 'namespaces' } }),
      codes: each('NotFound'),
    },
    { title: '404 of the kind', answer: status(404, 'NotFound', { details: {} }), codes: each('KindNotServed') },
    {
      title: '404 page not found',
      answer: { status: 404, headers: { 'content-type': 'text/plain' }, body: '404 page not found\n' },
      codes: each('KindNotServed'),
    },
    { title: '404 in HTML', answer: page(404), codes: each('KindNotServed') },
    { title: '405', answer: status(405, 'MethodNotAllowed'), codes: each('ApiInvalid') },
    { title: '408', answer: page(408), codes: each('ApiTimeout') },
    { title: '409', answer: status(409, 'Conflict', named), codes: each('Conflict') },
    { title: '409 in HTML', answer: page(409), codes: each('Conflict') },
    { title: '409 of the name', answer: status(409, 'AlreadyExists', named), codes: each('AlreadyExists') },
    { title: '410', answer: status(410, 'Expired'), codes: each('ContinueExpired') },
    { title: '413', answer: status(413, 'RequestEntityTooLarge'), codes: each('ApiInvalid') },
    { title: '415', answer: status(415, 'UnsupportedMediaType'), codes: each('ApiInvalid') },
    {
      title: '422 with causes',
      answer: status(422, 'Invalid', { details: { name: 'storefront', causes: [{ field: 'spec.rules' }] } }),
      codes: each('ApiInvalid'),
    },
    {
      title: '422 of the uid',
      answer: status(422, 'Invalid', { details: { name: 'storefront', causes: [{ field: 'metadata.uid' }] } }),
      codes: each('Conflict'),
    },
    {
      title: '422 without causes',
      answer: status(422, 'Invalid', { details: {} }),
      codes: { ...each('ApiInvalid'), json: 'Conflict' },
    },
    { title: '429', answer: status(429, 'TooManyRequests'), codes: each('ApiThrottled') },
    { title: '500', answer: status(500, 'InternalError'), codes: each('ApiFailed') },
    { title: '502 in HTML', answer: page(502), codes: each('ApiFailed') },
    { title: '503', answer: status(503, 'ServiceUnavailable'), codes: each('ApiFailed') },
    { title: '504', answer: status(504, 'Timeout'), codes: each('ApiTimeout') },
    { title: 'a redirect', answer: page(302, { location: 'https://login.example.com/' }), codes: each('ApiFailed') },
    { title: 'a status of the future', answer: page(499), codes: each('ApiFailed') },
    {
      title: 'a denial by a webhook, whatever its code',
      answer: status(404, 'NotFound', { ...named, message: 'admission webhook "a.b" denied the request: no' }),
      codes: { ...each('ApiDenied'), get: 'answered undefined' },
    },
    {
      title: 'a denial by a policy',
      answer: status(422, 'Forbidden', {
        message: `multiclusteringresses.networking.karmada.io "storefront" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`,
        details: { name: 'storefront', causes: [{ message: 'no' }] },
      }),
      codes: each('ApiDenied'),
    },
    {
      title: 'a webhook that could not be asked',
      answer: status(500, 'InternalError', { message: 'Internal error occurred: failed calling webhook "a.b": EOF' }),
      codes: each('ApiFailed'),
    },
  ]) {
    stub.answer(answer)
    t.same(await failures(t, store), codes, title)
  }
})

t.test('a success that is no object is no answer: nothing is taken for absent', async (t) => {
  const { stub, store } = await setUp(t)
  const whole = JSON.stringify(STORED)
  for (const { title, body } of [
    { title: 'nothing', body: '' },
    { title: 'half an object', body: whole.slice(0, whole.length / 2) },
    { title: 'a page', body: `<html>${SECRET}</html>` },
    { title: 'null', body: 'null' },
    { title: 'a list of nothing', body: '[]' },
    { title: 'an empty object', body: '{}' },
    { title: 'a number', body: '7' },
    { title: 'a Status', body: JSON.stringify({ kind: 'Status', metadata: {}, status: 'Success' }) },
    { title: 'another kind', body: JSON.stringify({ ...STORED, kind: 'Secret' }) },
    { title: 'an object without metadata', body: JSON.stringify({ kind: STORED.kind }) },
    { title: 'a list without metadata', body: '{"items":[]}' },
    { title: 'a list of text', body: '{"metadata":{},"items":"none"}' },
  ]) {
    for (const code of [200, 201, 204]) {
      if (code === 204 && body !== '') continue
      stub.answer({ status: code, body })
      t.same(await failures(t, store), each('ApiFailed'), `${code} with ${title}`)
    }
  }
  stub.answer({ status: 200, body: { kind: 'MultiClusterIngressList', metadata: {}, items: null } })
  t.same(await store.list('MultiClusterIngress', { signal }), { items: [], resourceVersion: '' }, 'an empty list of Go')
})

t.test('when to come back is the server’s to say', async (t) => {
  const { stub, store } = await setUp(t)
  for (const { header, afterMs } of [
    { header: '7', afterMs: 7_000 },
    { header: '0', afterMs: 0 },
    { header: 'Wed, 21 Oct 2026 07:28:00 GMT', afterMs: undefined },
    { header: '-1', afterMs: undefined },
  ]) {
    stub.answer({ status: 429, headers: { 'retry-after': header }, body: {} })
    await t.rejects(store.get(INGRESS, { signal }), { code: 'ApiThrottled', retry: 'after', afterMs, object: INGRESS })
  }
})

t.test('no answer in time is a timeout, wherever the server stops', async (t) => {
  const { stub, store } = await setUp(t, { timeoutMs: 60 })
  stub.answer(() => {})
  t.same(await failures(t, store), each('ApiTimeout'), 'before the first byte')
  stub.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"kind":')
  })
  t.same(await failures(t, store), each('ApiTimeout'), 'within the body')
  stub.answer(served)
  t.same(await store.get(INGRESS, { signal }), STORED, 'the next call is none the worse')
})

t.test('a server that takes connections and says nothing', async (t) => {
  const silent = createTcpServer()
  const taken: Socket[] = []
  silent.on('connection', (socket) => {
    taken.push(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of taken) socket.destroy()
    silent.close()
  })
  const server = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const hasty = await setUp(t, { server, timeoutMs: 60 })
  t.same(await failures(t, hasty.store), each('ApiTimeout'), 'in time, though there is no connection yet')
  const patient = await setUp(t, { server, timeoutMs: 60_000 })
  t.same(await failures(t, patient.store, AbortSignal.timeout(60)), each('ApiTimeout'), 'and when the caller gives up')
})

t.test('an API server behind a path', async (t) => {
  const stub = await startStubApiServer()
  const { store } = await setUp(t, {
    server: `${stub.url}/k8s/clusters/c-1/`,
    cluster: { 'certificate-authority-data': Buffer.from(stub.caPem).toString('base64') },
  })
  t.teardown(() => stub.close())
  stub.answer(served)
  t.same(await store.get(INGRESS, { signal }), STORED)
  t.match(stub.requests, [{ url: /^\/k8s\/clusters\/c-1\/apis\/networking\.karmada\.io\/v1alpha1\// }])
})

t.test('an API server behind a proxy: one tunnel for all requests', async (t) => {
  const tunnels: string[] = []
  const proxy = createProxyServer()
  proxy.on('connect', ({ url = '' }, client: Socket) => {
    tunnels.push(url)
    const { hostname, port } = new URL(`http://${url}`)
    const upstream = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  const stub = await startStubApiServer()
  t.teardown(() => stub.close())
  const { store, clock } = await setUp(t, {
    server: stub.url,
    cluster: {
      'certificate-authority-data': Buffer.from(stub.caPem).toString('base64'),
      'proxy-url': `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    },
  })
  stub.answer(served)
  for (let index = 0; index < 30; index += 1) {
    t.same(await store.get(INGRESS, { signal }), STORED)
    await clock.advance(1_000)
  }
  t.same(tunnels, [new URL(stub.url).host])
  t.equal(stub.connections(), 1)
})

t.test('ten at a time: ten connections, whatever is asked for', async (t) => {
  const { stub, store, clock } = await setUp(t)
  stub.answerEach(({ method }) =>
    method === 'GET' ? { status: 200, body: { ...STORED, metadata: {}, items: [] } } : served,
  )
  for (let round = 0; round < 30; round += 1) {
    await Promise.all(Array.from({ length: 2 }, () => Object.values(CALLS).map((call) => call(store, signal))).flat())
    await clock.advance(1_000)
  }
  t.equal(stub.requests.length, 300)
  t.equal(stub.connections(), 10)
})

t.test('a caller who gives up waits no longer', async (t) => {
  const { stub, store } = await setUp(t, { timeoutMs: 60_000 })
  for (const [name, call] of Object.entries(CALLS)) {
    const controller = new AbortController()
    const closed = new Promise<void>((resolve) => {
      stub.answer((response) => {
        response.on('close', () => resolve())
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('{"kind":', () => controller.abort())
      })
    })
    await t.rejects(call(store, controller.signal), { code: 'ApiTimeout' }, `${name}, in the middle of the answer`)
    await closed
  }
})

t.test('what cannot be reached', async (t) => {
  await t.test('nobody listens', async (t) => {
    const { stub, store } = await setUp(t)
    await stub.close()
    t.same(await failures(t, store), each('ApiUnreachable'))
    await t.rejects(store.get(INGRESS, { signal }), { message: /\(ECONNREFUSED\)$/ })
  })
  await t.test('a name that nobody knows', async (t) => {
    const { store } = await setUp(t, { server: 'https://api.invalid:6443' })
    await t.rejects(store.get(INGRESS, { signal }), { code: 'ApiUnreachable' })
  })
  await t.test('a certificate of an unknown authority', async (t) => {
    const other = await createCertificateAuthority(Date.now(), 'another')
    const cluster = { 'certificate-authority-data': Buffer.from(other.caPem).toString('base64') }
    const { stub, store } = await setUp(t, { cluster })
    stub.answer(served)
    t.same(await failures(t, store), each('ApiUnreachable'))
    await t.rejects(store.get(INGRESS, { signal }), { message: /\([A-Z_]*(CERT|SIGNATURE)[A-Z_]*\)$/ })
    t.same(stub.requests, [], 'no request, so no token, reached it')
  })
  await t.test('a certificate for another name', async (t) => {
    const { stub, store } = await setUp(t)
    const named = await setUp(t, {
      server: stub.url,
      cluster: {
        'certificate-authority-data': Buffer.from(stub.caPem).toString('base64'),
        'tls-server-name': 'elsewhere.example.com',
      },
    })
    stub.answer(served)
    await t.rejects(named.store.get(INGRESS, { signal }), { message: /ERR_TLS_CERT_ALTNAME_INVALID/ })
    t.same(await store.get(INGRESS, { signal }), STORED)
  })
  await t.test('connections that break', async (t) => {
    const { stub, store } = await setUp(t)
    stub.answer((response) => response.destroy())
    t.same(await failures(t, store), each('ApiUnreachable'), 'before the answer')
    stub.answer((response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"kind":', () => response.destroy())
    })
    t.same(await failures(t, store), each('ApiUnreachable'), 'within the answer')
    stub.answer(served)
    t.same(await store.get(INGRESS, { signal }), STORED)
  })
})

t.test('what is sent', async (t) => {
  const { stub, store } = await setUp(t)
  const path = '/apis/networking.karmada.io/v1alpha1/namespaces/shop/multiclusteringresses'
  stub.answer(served)
  for (const name of ['get', 'create', 'merge', 'json'] as const) await CALLS[name]?.(store, signal)
  stub.answer({
    status: 200,
    body: { metadata: { resourceVersion: '9', continue: 'more' }, items: [{ metadata: {} }] },
  })
  const listed = await store.list('MultiClusterIngress', {
    signal,
    namespace: 'shop',
    labelSelector: 'a in (b, c),!d',
    limit: 5,
    continue: 'a+b/c=&limit=1',
  })
  t.match(listed, { continue: 'more', resourceVersion: '9', items: [{ kind: 'MultiClusterIngress' }] })
  const sent = stub.requests.map(({ method, url, headers }) => [method, url, headers['content-type']])
  t.same(sent, [
    ['GET', `${path}/storefront`, undefined],
    ['POST', path, 'application/json'],
    ['PATCH', `${path}/storefront/status`, 'application/merge-patch+json'],
    ['PATCH', `${path}/storefront`, 'application/json-patch+json'],
    ['GET', `${path}?labelSelector=a+in+%28b%2C+c%29%2C%21d&limit=5&continue=a%2Bb%2Fc%3D%26limit%3D1`, undefined],
  ])
  for (const { headers } of stub.requests) {
    t.match(headers, { authorization: `Bearer ${TOKEN}`, accept: 'application/json' })
  }
})

/** Answers only to this token. */
const guarded = (token: () => string) => (request: StubRequest) =>
  request.headers.authorization === `Bearer ${token()}` ? served : status(401, 'Unauthorized')

t.test('a token file that was replaced', async (t) => {
  const tokenFile = write('first\n')
  const { stub, store, clock } = await setUp(t, { user: { tokenFile } })
  let valid = 'first'
  stub.answerEach(guarded(() => valid))
  t.same(await store.get(INGRESS, { signal }), STORED, 'its line end is no part of it')

  valid = 'second'
  writeFileSync(tokenFile, 'second\n')
  stub.requests.length = 0
  t.same(await store.get(INGRESS, { signal }), STORED, 'a refused token is read again at once')
  t.equal(stub.requests.length, 2)

  writeFileSync(tokenFile, 'third')
  await clock.advance(10_001)
  valid = 'third'
  stub.requests.length = 0
  t.same(await store.get(INGRESS, { signal }), STORED)
  t.equal(stub.requests.length, 1, 'and now and then before it is refused')

  valid = 'fourth'
  stub.requests.length = 0
  await t.rejects(store.get(INGRESS, { signal }), { code: 'ApiUnauthorized', retry: 'backoff' })
  t.equal(stub.requests.length, 2, 'asked twice, not for ever')

  rmSync(tokenFile)
  await clock.advance(10_001)
  await t.rejects(store.get(INGRESS, { signal }), { code: 'ApiUnauthorized', message: /ENOENT/ })
  t.ok(
    stub.connections() <= 2,
    'none of it for the price of a new connection: a second one, if the first is not yet free',
  )
})

t.test('a token file beside the kubeconfig, which comes before a token', async (t) => {
  writeFileSync(join(folder, 'token'), 'beside')
  const { stub, store } = await setUp(t, { user: { tokenFile: 'token', token: 'old' } })
  stub.answerEach(guarded(() => 'beside'))
  t.same(await store.get(INGRESS, { signal }), STORED)
})

/** A plugin that answers with what a file says, and counts how often it was asked. */
function writePlugin(): { exec: object; tokenFile: string; asked: string } {
  const tokenFile = write('first')
  const asked = write('')
  const script = write(`
    const { appendFileSync, readFileSync } = require('node:fs')
    appendFileSync(${JSON.stringify(asked)}, '.')
    const token = readFileSync(${JSON.stringify(tokenFile)}, 'utf8')
    if (token === 'slow') setTimeout(() => {}, 700)
    else if (token === 'bad') { console.error('${SECRET}'); process.exitCode = 1 }
    else if (token === 'odd') console.log('${SECRET}')
    else console.log(JSON.stringify({ kind: 'ExecCredential', status: { token } }))
  `)
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: [script] }
  return { exec, tokenFile, asked }
}

t.test('an exec plugin', async (t) => {
  const { exec, tokenFile, asked } = writePlugin()
  const times = () => readFileSync(asked, 'utf8').length
  const { stub, store, clock } = await setUp(t, { user: { exec } })
  let valid = 'first'
  stub.answerEach(guarded(() => valid))
  const all = await Promise.all(Array.from({ length: 20 }, () => store.get(INGRESS, { signal })))
  t.same(new Set(all.map((object) => object?.metadata.uid)), new Set(['u1']))
  t.equal(times(), 1, 'twenty calls at once ask it once')
  await clock.advance(10_001)
  await store.get(INGRESS, { signal })
  t.equal(times(), 1, 'what it said holds until it is refused')

  writeFileSync(tokenFile, 'second')
  valid = 'second'
  const again = await Promise.all(Array.from({ length: 20 }, () => store.get(INGRESS, { signal })))
  t.same(new Set(again.map((object) => object?.metadata.uid)), new Set(['u1']))
  t.equal(times(), 2)

  for (const fault of ['bad', 'odd']) {
    writeFileSync(tokenFile, fault)
    valid = 'another'
    t.same(await failures(t, store), each('ApiUnauthorized'), `a plugin that is ${fault}`)
  }
})

t.test('an exec plugin that does not end, and one that does not exist', async (t) => {
  const { exec, tokenFile } = writePlugin()
  writeFileSync(tokenFile, 'slow')
  const slow = await setUp(t, { user: { exec }, timeoutMs: 100 })
  await t.rejects(slow.store.get(INGRESS, { signal }), { code: 'ApiTimeout' })
  const missing = await setUp(t, { user: { exec: { command: join(folder, 'no-plugin') } } })
  await t.rejects(missing.store.get(INGRESS, { signal }), { code: 'ApiUnauthorized', message: /ENOENT/ })
})

t.test('one connection as long as the authority stays', async (t) => {
  const caFile = write('')
  const { stub, store, clock } = await setUp(t, { cluster: { 'certificate-authority': caFile } })
  writeFileSync(caFile, stub.caPem)
  stub.answer(served)
  for (let index = 0; index < 200; index += 1) {
    await store.get(INGRESS, { signal })
    await clock.advance(1_000)
  }
  t.equal(stub.requests.length, 200)
  t.equal(stub.connections(), 1)

  let finish = () => {}
  stub.answer((response) => {
    finish = () => void response.writeHead(200).end(JSON.stringify(STORED))
  })
  const onItsWay = store.get(INGRESS, { signal })
  while (stub.requests.length < 201) await pause(5)

  const other = await createCertificateAuthority(Date.now(), 'next year')
  writeFileSync(caFile, `${other.caPem}${stub.caPem}`)
  await clock.advance(10_001)
  stub.answer(served)
  t.same(await store.get(INGRESS, { signal }), STORED)
  t.equal(stub.connections(), 2, 'a new authority, a new connection')
  finish()
  t.same(await onItsWay, STORED, 'what was on its way over the old one arrives')

  writeFileSync(caFile, other.caPem)
  await clock.advance(10_001)
  await t.rejects(store.get(INGRESS, { signal }), { code: 'ApiUnreachable' }, 'an authority that went is not trusted')
})

t.test('a kubeconfig that cannot be used', async (t) => {
  const config = buildKubeconfig({ server: 'https://api.example.com' })
  const [cluster] = config.clusters
  const file = (content: string | object): KubernetesSource => ({ kind: 'file', path: write(content) })
  const secret = `users: [{name: u, user: {token: ${TOKEN}`
  for (const { title, source, field, says } of [
    {
      title: 'no file',
      source: { kind: 'file', path: '/no/such/file' } as const,
      field: 'kubernetes.kubeconfig',
      says: 'does not exist',
    },
    {
      title: 'a folder',
      source: { kind: 'file', path: folder } as const,
      field: 'kubernetes.kubeconfig',
      says: 'EISDIR',
    },
    {
      title: 'bad YAML',
      source: file(`${secret}\nclusters: [`),
      field: 'kubernetes.kubeconfig',
      says: 'not valid YAML: line',
    },
    {
      title: 'two documents',
      source: file(`a: 1\n---\n${secret}}}]`),
      field: 'kubernetes.kubeconfig',
      says: 'not valid YAML',
    },
    {
      title: 'a tag, whose value nobody has put in its place',
      source: file(`users: !vault ${TOKEN}`),
      field: 'kubernetes.kubeconfig',
      says: 'not valid YAML: line',
    },
    { title: 'empty', source: file(''), field: 'kubernetes.kubeconfig', says: 'not a YAML mapping' },
    { title: 'text', source: file(TOKEN), field: 'kubernetes.kubeconfig', says: 'not a YAML mapping' },
    { title: 'a list', source: file('[1]'), field: 'kubernetes.kubeconfig', says: 'not a YAML mapping' },
    { title: 'no users', source: file({ ...config, users: undefined }), field: 'users', says: 'no list of users' },
    {
      title: 'contexts of the wrong type',
      source: file({ ...config, contexts: 'x' }),
      field: 'contexts',
      says: 'no list',
    },
    {
      title: 'a user that is text',
      source: file({ ...config, users: [TOKEN] }),
      field: 'users',
      says: 'must be a mapping',
    },
    {
      title: 'a user without a name',
      source: file({ ...config, users: [{ user: { token: TOKEN } }] }),
      field: 'kubernetes.kubeconfig',
      says: 'users[0].name',
    },
    {
      title: 'a server that is a number',
      source: file({ ...config, clusters: [{ name: 'c', cluster: { server: 8080 } }] }),
      field: 'clusters[0].cluster.server',
      says: 'https URL',
    },
    {
      title: 'a cluster without content',
      source: file({ ...config, clusters: [{ name: 'c' }] }),
      field: 'clusters[0].cluster.server',
      says: 'https URL',
    },
    {
      title: 'unknown context',
      source: { ...file(config), context: 'y' } as KubernetesSource,
      field: 'kubernetes.context',
      says: 'no context "y"; it has: x',
    },
    {
      title: 'no current context',
      source: file({ ...config, 'current-context': undefined }),
      field: 'kubernetes.context',
      says: 'it has: x',
    },
    {
      title: 'unknown cluster',
      source: file({ ...config, clusters: [{ ...cluster, name: 'd' }] }),
      field: 'clusters',
      says: 'no cluster "c"',
    },
    { title: 'unknown user', source: file({ ...config, users: [] }), field: 'users', says: 'no user "u"' },
    {
      title: 'plain http',
      source: file(buildKubeconfig({ server: 'http://api.example.com' })),
      field: 'clusters[].cluster.server',
      says: 'not an https URL',
    },
    {
      title: 'no URL',
      source: file(buildKubeconfig({ server: 'api.example.com:6443' })),
      field: 'clusters[].cluster.server',
      says: 'not an https URL',
    },
    {
      title: 'bad YAML in a variable',
      source: { kind: 'text', text: `${secret}\nclusters: [`, origin: 'the variable V' } as const,
      field: 'kubernetes.kubeconfig',
      says: 'the variable V is not valid YAML: line',
    },
    {
      title: 'a user without a name in a variable',
      source: {
        kind: 'text',
        text: JSON.stringify({ ...config, users: [{ user: { token: TOKEN } }] }),
        origin: 'the variable V',
      } as const,
      field: 'kubernetes.kubeconfig',
      says: 'the variable V cannot be read as a kubeconfig: users[0].name',
    },
    {
      title: 'outside a cluster',
      source: { kind: 'in-cluster' } as const,
      field: 'kubernetes.inCluster',
      says: 'no ServiceAccount token',
    },
  ]) {
    t.throws(() => loadKubeConfig(source), { code: 'KubeconfigInvalid', field }, title)
    try {
      loadKubeConfig(source)
    } catch (error) {
      const told = String(error)
      t.ok(told.includes(says) && told.includes(field), told)
      t.notOk(told.includes(TOKEN), 'and gives nothing away')
    }
  }
})

t.test('files of a kubeconfig that are missing are told when they are needed', async (t) => {
  const { store } = await setUp(t, { cluster: { 'certificate-authority': '/no/such/ca.crt' } })
  await t.rejects(store.get(INGRESS, { signal }), { code: 'ApiUnauthorized', message: /ENOENT/ })
})
