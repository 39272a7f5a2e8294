import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { bundleFunctions, type Leaf } from '../functions/bundle-functions.ts'
import { type BundlePart, ENTRY, loadedWith } from '../functions/bundle-leaf.ts'
import { answerRequest } from '../src/adapters/http/answer-request.ts'
import { decodeLambdaEvent } from '../src/adapters/lambda/decode-lambda-event.ts'
import { encodeLambdaAnswer } from '../src/adapters/lambda/encode-lambda-answer.ts'
import type { LambdaEvent } from '../src/adapters/lambda/lambda-event.ts'
import { readFixture } from '../src/cli/fixture.ts'
import { builtInProviders } from '../src/cli/providers.ts'
import { createFunctionHandler, type FunctionHandler } from '../src/compose/function-handler.ts'
import { createProviderRegistry } from '../src/provider/registry.ts'
import { startLeafBench } from './functions/leaf-bench.ts'
import { startLeafProcess } from './functions/leaf-process.ts'
import { hasLambdaRuntime, LEAVES } from './functions/leaves.ts'
import { openServer } from './functions/open-server.ts'
import { platformTables, withTables } from './functions/platform-tables.ts'
import { runLeaves } from './functions/run-leaves.ts'
import { natsServerMissing, startNatsServer } from './support/nats-server.ts'
import { openApp } from './support/open-app.ts'
import { stubDoors } from './support/stub-doors.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures')
const DOCUMENT = join(import.meta.dirname, '../docs/function-platforms.md')
const bundles = mkdtempSync(join(tmpdir(), 'bundles-'))
const bench = await startLeafBench()
t.teardown(async () => {
  await bench.close()
  rmSync(bundles, { recursive: true })
})
const parts = await bundleFunctions(bundles)

t.test('every fixture passes through every leaf that can carry it', async (t) => {
  t.comment(`AWS Lambda: the handler is run by ${hasLambdaRuntime ? 'aws-lambda-ric' : 'a loop of ours'}`)
  const runs = await runLeaves({ bundles, bench })
  t.strictSame(
    runs.map(({ leaf }) => leaf.name),
    LEAVES.map(({ name }) => name),
  )
  for (const { leaf, carried } of runs) {
    for (const [name, result] of carried) {
      if (result.kind === 'wrong') t.fail(`${leaf.name}: ${name}`, { faults: result.faults })
      else if (result.kind === 'not carried') t.pass(`${leaf.name}: ${name}`, { skip: `cannot: ${result.missing}` })
      else t.pass(`${leaf.name}: ${name} ${result.kind}`)
    }
  }
  const document = readFileSync(DOCUMENT, 'utf8')
  t.equal(document, withTables(document, platformTables(runs)), 'the document says so; npm run function-platforms')
})

t.test('the leaf of the document is one that compiles', async (t) => {
  const [, block] = /```ts\n([\s\S]*?)```/.exec(readFileSync(DOCUMENT, 'utf8')) ?? []
  t.equal(block, readFileSync(join(import.meta.dirname, 'readme/lambda-function.ts'), 'utf8'))
})

t.test('a document without a place for the tables is told', async (t) => {
  t.throws(() => withTables('# On a function platform', 'tables'), /has no place for tables/)
})

t.test('what does not fit the platform is refused at the start, in one line with the remedy', async (t) => {
  const tls = { certFile: '/tls.crt', keyFile: '/tls.key' }
  for (const { leaf, settings, says } of [
    { leaf: 'node', settings: { sever: 1 }, says: /sever: is not a setting/ },
    { leaf: 'knative', settings: { queue: {} }, says: /queue\.kind: .* or min-scale 1 and queue\.kind: memory/ },
    { leaf: 'knative', settings: { server: { tls } }, says: /server\.tls: must be absent: this platform ends TLS/ },
    { leaf: 'kn-func/notify', settings: { queue: {} }, says: /queue\.kind: .* or min-scale 1/ },
    {
      leaf: 'kn-func/notify',
      settings: { queue: { kind: 'memory' } },
      says: /queue\.kind: this function is only a door: .* kind memory; set queue\.kind to cloudevents/,
    },
    { leaf: 'google', settings: { log: { level: 'loud' } }, says: /log\.level: must be one of/ },
    {
      leaf: 'aws-lambda',
      settings: { queue: { kind: 'memory' } },
      says: /queue\.kind: AWS Lambda freezes .*: set queue\.kind to cloudevents or jetstream/,
    },
  ]) {
    const { failed } = startLeafProcess({
      args: ['index.cjs'],
      folder: join(bundles, leaf),
      env: {
        ...bench.environment(settings),
        ...(leaf === 'aws-lambda' && { AWS_LAMBDA_FUNCTION_NAME: 'f' }),
        ...(leaf.startsWith('kn-func') && { K_SERVICE: 'f' }),
      },
    })
    await t.rejects(failed, { message: says }, leaf)
    await t.rejects(failed, { message: /^the leaf ended \(1\): ConfigurationInvalid: 1 fault/ }, leaf)
  }
})

t.test('a leaf without any configuration says where it looked', async (t) => {
  const { failed } = startLeafProcess({ args: ['index.cjs'], folder: join(bundles, 'node'), env: {} })
  await t.rejects(
    failed,
    /ended \(1\): ConfigurationInvalid: the configuration file \/etc\/webhook-cloud-provider\/config/,
  )
})

t.test('leaves that are a process stop on SIGTERM, and outlive whoever read their log', async (t) => {
  const review = (await readFixture(join(FIXTURES, 'admission/notify-create.json'))).request
  for (const leaf of ['node', 'knative', 'container']) {
    const open = await openServer((PORT) => ({
      args: leaf === 'container' ? ['index.cjs', 'serve', '--config', '/dev/null'] : ['index.cjs'],
      folder: join(bundles, leaf),
      env: { ...bench.environment({ log: { level: 'info' } }), PORT },
    }))
    open.process.closeOutput()
    for (const _ of [1, 2, 3]) t.match(await open.send(review), { status: 200 }, leaf)
    t.equal(await open.close(), 0, leaf)
  }
})

t.test('a function serves without the server of its queue, and says what it could not hand over', async (t) => {
  const review = (await readFixture(join(FIXTURES, 'admission/notify-create.json'))).request
  const open = await openServer((PORT) => ({
    args: ['index.cjs'],
    folder: join(bundles, 'knative'),
    env: { ...bench.environment({ queue: { kind: 'jetstream', servers: ['127.0.0.1:1'] }, lock: 'none' }), PORT },
  }))
  t.match(await open.send(review), { status: 200 }, 'users do not wait for it')
  t.match(
    (await open.send({ method: 'GET', path: '/metrics', headers: {}, body: Buffer.alloc(0) })).body,
    /result="queueUnreachable"\} 1$/m,
  )
  t.equal(await open.close(), 0)
})

t.test('code that was compiled when it was bundled is used; of another Node it is refused, and told', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'code-cache-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const atStart = loadedWith(ENTRY, parts.knative)
  const later = parts.knative.filter((part) => !atStart.includes(part))
  for (const { title, refused, absent, metric } of [
    { title: 'its own', metric: 'code_cache_rejected 0' },
    { title: 'another’s', refused: atStart, metric: 'code_cache_rejected 1' },
    { title: 'another’s, of what is loaded later', refused: later, metric: 'code_cache_rejected 1' },
    { title: 'none', absent: parts.knative, metric: undefined },
  ]) {
    cpSync(join(bundles, 'knative'), folder, { recursive: true })
    for (const part of refused ?? []) refuse(cacheOf(folder, part))
    for (const part of absent ?? []) rmSync(cacheOf(folder, part))
    const open = await openServer((PORT) => ({
      args: ['index.cjs'],
      folder,
      env: { ...bench.environment({ log: { level: 'warn' } }), PORT },
    }))
    t.match(await open.send(await fixture('admission/notify-create.json')), { status: 200 }, title)
    const { body } = await open.send({ method: 'GET', path: '/metrics', headers: {}, body: Buffer.alloc(0) })
    t.equal(/^code_cache_rejected .*$/m.exec(String(body))?.[0], metric, title)
    t.notMatch(String(body), /^serving_certificate_expiry/m, 'TLS ends elsewhere')
    const told = open.process.output().match(/bundle again with these/g) ?? []
    t.equal(told.length, refused === undefined ? 0 : 1, title)
    t.equal(await open.close(), 0, title)
  }
})

/** A word of the head of what V8 wrote says which version of V8, and with which flags. */
function refuse(file: string): void {
  const compiled = readFileSync(file)
  compiled.writeUInt32LE((compiled.readUInt32LE(4) ^ 1) >>> 0, 4)
  writeFileSync(file, compiled)
}

function cacheOf(folder: string, { name }: BundlePart): string {
  return join(folder, name.replace(/\.cjs$/, '.cache'))
}

async function fixture(name: string) {
  return (await readFixture(join(FIXTURES, name))).request
}

const KB = 1_000

t.test('what a leaf brings, and what it loads to open its doors, stays small', async (t) => {
  for (const leaf of Object.keys(parts) as Leaf[]) {
    const atStart = loadedWith(ENTRY, parts[leaf])
    t.equal(atStart.length, 1, `${leaf}: one script`)
    t.ok(bytesOf(atStart) <= 520 * KB || leaf === 'container', `${leaf}: at the start ${bytesOf(atStart)} bytes`)
    if (leaf === 'container') continue
    const bound = leaf === 'kn-func/notify' ? 500 * KB : 2_048 * KB
    t.ok(codeIn(join(bundles, leaf)) <= bound, `${leaf}: all in all ${codeIn(join(bundles, leaf))} bytes`)
  }
})

t.test('what is not needed to open a door is loaded later, and what compiles is in no bundle', async (t) => {
  const later = /@kubernetes|undici|@opentelemetry|@nats-io|jose|src\/reconcilers\/\w+\/apply|src\/flow\/sweep\.ts/
  const never = /@peculiar|client-node\/dist\/gen\/(models|apis)|ajv\/dist\/(core|compile)|fast-json-stringify\/index/
  for (const [leaf, all] of Object.entries(parts)) {
    if (leaf === 'container') continue
    t.strictSame(modulesIn(loadedWith(ENTRY, all), later), [], `${leaf}: at the start`)
    t.strictSame(modulesIn(all, never), [], `${leaf}: at all`)
  }
  t.not(modulesIn(parts.node, later).length, 0, 'but there it is')
  const works = /@kubernetes|@opentelemetry|@nats-io|jose|src\/reconcilers\/\w+\/apply|src\/flow\/sweep\.ts/
  for (const leaf of ['kn-func/mutate', 'kn-func/validate', 'kn-func/notify'] as const) {
    t.strictSame(modulesIn(parts[leaf], works), [], `${leaf}: only a door`)
  }
  t.strictSame(
    modulesIn(parts['kn-func/notify'], /undici|src\/providers/),
    [],
    'it knows the name of the provider only',
  )
  t.not(modulesIn(parts['kn-func/work'], works).length, 0, 'what works has it all')
})

t.test('what work needs is loaded once there is some, after the answer and before the first look', async (t) => {
  const [reviewed, told] = await Promise.all([
    fixture('admission/mutate-create.json'),
    fixture('admission/notify-create.json'),
  ])
  const script = `
    const { webhookCloudProvider } = require('./index.cjs')
    const { parts } = require.cache[require.resolve('./index.cjs')]
    const turn = () => new Promise(setImmediate)
    const answered = ({ path, headers, body }) =>
      new Promise((end) => {
        const response = { writeHead: () => response, end }
        const request = { method: 'POST', originalUrl: path, headers, rawBody: Buffer.from(body), socket: {} }
        webhookCloudProvider(request, response)
      })
    const look = () => ({ parts: [...parts.keys()], tls: process.moduleLoadList.includes('NativeModule tls') })
    async function run(claimed, told) {
      await answered(claimed)
      await turn()
      const idle = look()
      await answered(told)
      const answer = look()
      await turn()
      await turn()
      process.stdout.write(JSON.stringify({ idle, answer, soon: look() }))
      process.exit()
    }
    run(...${JSON.stringify([reviewed, told].map(({ path, headers, body }) => ({ path, headers, body: String(body) })))})`
  const { WCP_CONFIG_YAML = '', ...credentials } = bench.environment({
    queue: { kind: 'memory' },
    log: { level: 'silent' },
  })
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    cwd: join(bundles, 'google'),
    env: { ...credentials, WCP_CONFIG_YAML },
  })
  const { idle, answer, soon } = JSON.parse(stdout)
  for (const module of ['src/adapters/kubernetes/kubernetes-cluster-store.ts', 'src/compose/compose-work.ts']) {
    const name = parts.google.find(({ modules }) => module in modules)?.name
    t.notOk(idle.parts.includes(name), `${module}: not for a review that brings no work`)
    t.notOk(answer.parts.includes(name), `${module}: not before the answer`)
    t.ok(soon.parts.includes(name), `${module}: right after it`)
  }
  t.equal(answer.tls, false, 'nor anything of TLS, where it ends elsewhere')
})

t.test('a door that only hands over needs no credentials, and has handed over when it answers', async (t) => {
  const folder = join(bundles, 'kn-func/notify')
  const { request } = await readFixture(join(FIXTURES, 'admission/notify-create.json'))
  const script = `
    const leaf = require('./index.cjs')
    const request = ${JSON.stringify({ method: 'POST', headers: request.headers, query: {} })}
    leaf.handle({ ...request, rawBody: ${JSON.stringify(String(request.body))} })
      .then(({ statusCode }) => process.stdout.write(JSON.stringify({ statusCode })))
      .finally(() => leaf.shutdown())`
  const { WCP_CONFIG_YAML = '' } = bench.environment()
  bench.forget()
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
    cwd: folder,
    env: { WCP_CONFIG_YAML, K_SERVICE: 'function' },
  })
  t.match(stdout, /\{"statusCode":200\}/)
  t.equal(bench.queued().length, 1)
  const mounted = (door: string) => readFileSync(join(bundles, 'kn-func', door, 'func.yaml'), 'utf8')
  for (const door of ['mutate', 'validate', 'notify']) t.notMatch(mounted(door), /kubeconfig/, door)
  t.match(mounted('work'), /secret: webhook-cloud-provider-kubeconfig/)
})

/** As whoever deploys it counts: every file of code in its folder. */
function codeIn(folder: string): number {
  const files = readdirSync(folder).filter((file) => /\.[cm]?js$/.test(file))
  return files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
}

function bytesOf(some: readonly BundlePart[]): number {
  return some.reduce((sum, { bytes }) => sum + bytes, 0)
}

function modulesIn(some: readonly BundlePart[], pattern: RegExp): string[] {
  return some.flatMap(({ modules }) => Object.keys(modules)).filter((module) => pattern.test(module))
}

t.test('what is handed over goes through the same guards as what comes over a connection', async (t) => {
  const { app } = openApp(stubDoors(), { pathPrefix: '/secret' })
  await app.ready()
  const send = (request: Partial<Parameters<typeof answerRequest>[1]>) =>
    answerRequest(app, { method: 'GET', url: '/healthz', headers: {}, body: Buffer.alloc(0), ...request })
  t.match(await send({}), { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } })
  for (const { title, status, ...request } of [
    { title: 'no parser resolves a path', url: '/secret/../secret/sweep', method: 'POST', status: 404 },
    { title: 'nor a path that looks like a host', url: '//secret/sweep', method: 'POST', status: 404 },
    { title: 'without the prefix', url: '/sweep', method: 'POST', status: 404 },
    { title: 'with it', url: '/secret/sweep', method: 'post', status: 200 },
    { title: 'a method that HTTP does not know', url: '/healthz', method: 'FROB', status: 400 },
    { title: 'what is no URL', url: '/secret/%E0%A4%A', status: 400 },
    {
      title: 'framing of another connection',
      headers: { 'Content-Length': '7', 'Transfer-Encoding': 'chunked' },
      status: 200,
    },
  ]) {
    t.equal((await send(request)).status, status, title)
  }
  const { headers } = await send({})
  for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'content-length']) t.notOk(name in headers, name)
  await app.close()
})

t.test('headers and whoever sent them arrive as they were', async (t) => {
  const { app } = openApp(stubDoors())
  const seen: object[] = []
  app.addHook('onRequest', async ({ headers, ip }) => void seen.push({ headers, ip }))
  await app.ready()
  const sent = {
    Authorization: 'Bearer a',
    'X-Twice': ['a', 'b'],
    'user-agent': 'kube-apiserver-admission',
    absent: undefined,
  }
  await answerRequest(app, {
    method: 'GET',
    url: '/healthz',
    headers: sent,
    body: Buffer.alloc(0),
    remoteAddress: '203.0.113.7',
  })
  t.match(seen, [
    {
      ip: '203.0.113.7',
      headers: { authorization: 'Bearer a', 'x-twice': 'a, b', 'user-agent': 'kube-apiserver-admission' },
    },
  ])
  await app.close()
})

const V2 = { version: '2.0', rawPath: '/x', requestContext: { http: { method: 'GET' } } } as const
const V1 = { httpMethod: 'GET', path: '/x', requestContext: {} } as const
const ALB = { ...V1, requestContext: { elb: { targetGroupArn: 'arn' } } }

t.test('an event of AWS Lambda is the request that it was', async (t) => {
  const cases: { title: string; event: LambdaEvent; request: object }[] = [
    {
      title: 'the stage of an HTTP API is no part of the path',
      event: { ...V2, rawPath: '/prod/events', requestContext: { stage: 'prod', http: { method: 'POST' } } },
      request: { method: 'POST', url: '/events' },
    },
    {
      title: 'unless the path has none, as behind a domain of its own',
      event: { ...V2, rawPath: '/production', requestContext: { stage: 'prod', http: { method: 'GET' } } },
      request: { url: '/production' },
    },
    {
      title: 'a REST API names its stage and has it not in the path',
      event: { ...V1, path: '/admission/mutate', requestContext: { stage: 'admission' } },
      request: { url: '/admission/mutate' },
    },
    {
      title: 'a path that a gateway has decoded',
      event: { ...V2, rawPath: '/a b/é?#\ud800' },
      request: { url: '/a%20b/%C3%A9%3F%23%EF%BF%BD' },
    },
    { title: 'a path that it has not', event: { ...V2, rawPath: '/a%20b' }, request: { url: '/a%20b' } },
    {
      title: 'a query of payload 2.0 is as it was sent',
      event: { ...V2, rawQueryString: 'a=%2F&a=b' },
      request: { url: '/x?a=%2F&a=b' },
    },
    {
      title: 'that of a gateway was decoded',
      event: { ...V1, queryStringParameters: { a: 'b' }, multiValueQueryStringParameters: { a: ['/', 'b'] } },
      request: { url: '/x?a=%2F&a=b' },
    },
    {
      title: 'that of a load balancer was not',
      event: { ...ALB, queryStringParameters: { a: '%2F' } },
      request: { url: '/x?a=%2F' },
    },
    {
      title: 'cookies',
      event: { ...V2, cookies: ['a=1', 'b=2'], headers: { x: 'y' } },
      request: { headers: { x: 'y', cookie: 'a=1; b=2' } },
    },
    {
      title: 'a body in base64',
      event: { ...V2, body: '/w==', isBase64Encoded: true },
      request: { body: Buffer.from([255]) },
    },
    { title: 'no body', event: { ...V1, body: null, headers: null }, request: { body: Buffer.alloc(0), headers: {} } },
    {
      title: 'who sent it, by a gateway',
      event: {
        ...V1,
        requestContext: { identity: { sourceIp: '203.0.113.7' } },
        headers: { 'x-forwarded-for': '1.1.1.1' },
      },
      request: { remoteAddress: '203.0.113.7' },
    },
    {
      title: 'who sent it, by a load balancer: what it appended, not what the caller claims',
      event: { ...ALB, multiValueHeaders: { 'X-Forwarded-For': ['1.1.1.1, 2.2.2.2', '203.0.113.7'] } },
      request: { remoteAddress: '203.0.113.7' },
    },
  ]
  for (const { title, event, request } of cases) t.match(decodeLambdaEvent(event), request, title)
  for (const event of [{}, { Records: [] }, { source: 'aws.events' }]) {
    t.throws(() => decodeLambdaEvent(event as LambdaEvent), /the event is no HTTP request: call by function URL/)
  }
})

t.test('an answer is in the form that its front reads', async (t) => {
  const answer = {
    status: 503,
    headers: { 'retry-after': '1', vary: ['a', 'b'] },
    body: Buffer.from('{"code":"Draining"}'),
  }
  const text = { statusCode: 503, body: '{"code":"Draining"}', isBase64Encoded: false }
  const headers = { 'retry-after': '1', vary: 'a, b' }
  const multiValueHeaders = { 'retry-after': ['1'], vary: ['a', 'b'] }
  const statusDescription = '503 Service Unavailable'
  t.strictSame(encodeLambdaAnswer(V2, answer), { ...text, headers })
  t.strictSame(encodeLambdaAnswer(V1, answer), { ...text, multiValueHeaders })
  t.strictSame(encodeLambdaAnswer(ALB, answer), { ...text, statusDescription, headers })
  t.strictSame(encodeLambdaAnswer({ ...ALB, multiValueHeaders: {} }, answer), {
    ...text,
    statusDescription,
    multiValueHeaders,
  })
  const bytes = encodeLambdaAnswer(V2, { ...answer, body: Buffer.from([255]) })
  t.match(bytes, { body: '/w==', isBase64Encoded: true })
})

t.test('a function that cannot start rejects, and has started nothing', async (t) => {
  const environment = bench.environment({ provider: { name: 'aws' } })
  const options = { configFile: '/none', environment, registry: createProviderRegistry({}), write: () => {} }
  await t.rejects(createFunctionHandler({ ...options, worksBetweenRequests: true }), { code: 'ProviderUnknown' })
})

const missing = natsServerMissing(process.env)

t.test('a function that a review starts has its queue', { skip: missing ?? false }, async (t) => {
  const server = await startNatsServer()
  t.teardown(() => server.close())
  const { request } = await readFixture(join(FIXTURES, 'admission/notify-create.json'))
  const open = await openServer((PORT) => ({
    args: ['index.cjs'],
    folder: join(bundles, 'knative'),
    env: { ...bench.environment({ queue: { kind: 'jetstream', servers: [server.url] }, lock: 'none' }), PORT },
  }))
  t.match(await open.send(request), { status: 200 })
  t.match(
    (await open.send({ method: 'GET', path: '/metrics', headers: {}, body: Buffer.alloc(0) })).body,
    /door="notify",result="queued"\} 1$/m,
  )
  t.equal(await open.close(), 0)
})

t.test('a frozen process hands over only; another works on it', { skip: missing ?? false }, async (t) => {
  const server = await startNatsServer()
  t.teardown(() => server.close())
  const environment = bench.environment({ queue: { kind: 'jetstream', servers: [server.url] }, lock: 'none' })
  const options = { configFile: '/none', environment, registry: builtInProviders(), write: () => {} }
  const counted = async ({ answer }: FunctionHandler, metric: string) => {
    const { body } = await answer({ method: 'GET', url: '/metrics', headers: {}, body: Buffer.alloc(0) })
    return new RegExp(`^${metric}\\S* ([1-9]\\d*)$`, 'm').exec(body.toString())?.[1]
  }
  const frozen = await createFunctionHandler({ ...options, worksBetweenRequests: false })
  const { method, path, headers, body } = (await readFixture(join(FIXTURES, 'admission/notify-delete.json'))).request
  t.match(await frozen.answer({ method, url: path, headers, body }), { status: 200 })
  t.equal(await counted(frozen, 'workqueue_adds_total'), '1', 'it is handed over before the answer')

  const working = await createFunctionHandler({ ...options, worksBetweenRequests: true })
  const worked = () => counted(working, 'controller_runtime_reconcile_total')
  for (let looks = 0; looks < 1_000 && (await worked()) === undefined; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.equal(await worked(), '1', 'another one has worked on it')
  t.equal(await counted(frozen, 'controller_runtime_reconcile_total'), undefined, 'and not worked on by who took it')
  await working.close()
  await frozen.close()
})
