import t, { type Test } from 'tap'
import type { Doors } from '../../src/adapters/http/doors.ts'
import { outcomeToResponse } from '../../src/adapters/http/outcome-to-response.ts'
import { retryAfterSeconds } from '../../src/adapters/http/retry-after.ts'
import type { Answer } from '../../src/cli/check-answer.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import { loadFixtures } from '../support/fixtures.ts'
import { type OpenApp, openApp } from '../support/open-app.ts'
import { loadOpenApi } from '../support/openapi.ts'
import { stubDoors } from '../support/stub-doors.ts'

const fixtures = await loadFixtures()
const openapi = await loadOpenApi()

/** Sends a fixture's request to doors that differ in these points; the answer must be one openapi.yaml describes. */
async function sendFixture(
  t: Test,
  name: string,
  overrides: Partial<Doors>,
  options: Parameters<typeof openApp>[1] = {},
): Promise<Answer & Omit<OpenApp, 'send'>> {
  const fixture = fixtures.get(`${name}.json`)
  if (fixture === undefined) throw new Error(`no fixture ${name}`)
  const { app, send, ...recorded } = openApp(stubDoors(overrides), options)
  const answer = await send(fixture.request)
  await app.close()
  t.strictSame(openapi.check(fixture.request.method, fixture.request.path, answer), [], 'as openapi.yaml says')
  return { ...answer, app, ...recorded }
}

const fail = (error: unknown) => async () => {
  throw error
}

t.test('while draining every door asks to come back, on another connection', async (t) => {
  const doors = ['admission/mutate-create', 'admission/validate-create', 'admission/notify-create']
  for (const name of [...doors, 'cloud-events/structured-resource-add', 'operations/sweep']) {
    const answer = await sendFixture(t, name, { draining: () => true })
    t.match(answer, { status: 503, headers: { 'retry-after': '1', connection: 'close' } }, name)
    t.match(JSON.parse(answer.body), { code: 'Draining' })
  }
  const ready = await sendFixture(t, 'operations/readyz', { draining: () => true })
  t.match(ready, { status: 503, body: '{"ready":false}' })
  t.match(await sendFixture(t, 'operations/healthz', { draining: () => true }), { status: 200 })
})

t.test('notify allows when the queue is full, and says so in log and metric', async (t) => {
  const acceptEvent = fail(new CatalogueError('QueueFull', 'the queue is full'))
  const { status, body, log, counted } = await sendFixture(t, 'admission/notify-create', { acceptEvent })
  t.equal(status, 200)
  t.match(JSON.parse(body), { response: { allowed: true } })
  t.match(counted, ['admission_reviews_total{door=notify,result=queueFull}'])
  t.match(log, [{ level: 'warn', fields: { name: '"storefront"' } }])
})

t.test('notify says 503 when the queue drains before the door knows', async (t) => {
  const acceptEvent = fail(new CatalogueError('Draining', 'draining'))
  t.match(await sendFixture(t, 'admission/notify-create', { acceptEvent }), {
    status: 503,
    headers: { 'retry-after': '1' },
  })
})

t.test('a fault of ours is 500: the failurePolicy decides; the log has it, the caller has not', async (t) => {
  const secret = () => {
    throw new Error('secret-detail')
  }
  const cases: [string, Partial<Doors>][] = [
    ['admission/mutate-create', { mutate: secret }],
    ['admission/validate-create', { validate: secret }],
    ['admission/notify-create', { acceptEvent: fail(new TypeError('secret-detail')) }],
    ['cloud-events/structured-resource-add', { acceptEvent: fail(new Error('secret-detail')) }],
    ['cloud-events/work', { work: fail(Object.assign(new Error('secret-detail'), { statusCode: 404 })) }],
    ['operations/sweep', { sweep: fail('secret-detail') }],
    ['operations/readyz', { readiness: fail(new Error('secret-detail')) }],
    ['operations/metrics', { metricsText: fail(new Error('secret-detail')) }],
  ]
  for (const [name, overrides] of cases) {
    const { status, body, log } = await sendFixture(t, name, overrides)
    t.equal(status, 500, name)
    t.match(JSON.parse(body), { code: 'Internal' })
    t.notMatch(body, /secret-detail|\.ts/)
    t.match(log.at(-1), { level: 'error', message: 'a door failed' })
  }
})

t.test('warnings are one line of at most 120 characters', async (t) => {
  const warnings = ['a\nb\u0000c\u0085d', '  ', `${'ü'.repeat(119)}😀x`, 'x'.repeat(120), 'lone \ud800']
  const { body } = await sendFixture(t, 'admission/validate-create', { validate: () => ({ findings: [], warnings }) })
  t.strictSame(JSON.parse(body).response.warnings, ['a b c d', `${'ü'.repeat(119)}…`, 'x'.repeat(120), 'lone \ufffd'])
})

t.test('a denial tells every finding in its message', async (t) => {
  const findings = [
    { field: 'spec.a', reason: 'FieldValueInvalid', message: 'Invalid value: "x\ny": bad' },
    { field: 'spec.b', reason: 'FieldValueRequired', message: 'Required value' },
  ] as const
  const validate = () => ({ findings: [...findings], warnings: ['careful'] })
  const { body, counted } = await sendFixture(t, 'admission/validate-create', { validate })
  const { response } = JSON.parse(body)
  t.equal(response.allowed, false)
  t.equal(response.status.message, 'spec.a: Invalid value: "x y": bad; spec.b: Required value')
  t.strictSame(response.status.details.causes[1], findings[1])
  t.strictSame(response.warnings, ['careful'])
  t.match(counted, ['admission_reviews_total{door=validate,result=denied}'])
})

t.test('an unknown kind is counted and warned of', async (t) => {
  for (const door of ['mutate', 'validate', 'notify']) {
    const { log, counted } = await sendFixture(t, `admission/${door}-foreign-kind`, {})
    t.match(counted, [`admission_reviews_total{door=${door},result=unknownKind}`])
    t.match(log, [{ level: 'warn' }])
  }
})

t.test('outcome → answer', async (t) => {
  const error = (code: ConstructorParameters<typeof CatalogueError>[0], afterMs?: number) =>
    new CatalogueError(code, 'why', afterMs === undefined ? {} : { afterMs })
  const failed = (...args: Parameters<typeof error>): Outcome => ({ kind: 'failed', error: error(...args) })
  const cases: [Outcome, number, string | undefined][] = [
    [{ kind: 'settled' }, 204, undefined],
    [{ kind: 'gone' }, 204, undefined],
    [{ kind: 'ignored', reason: 'not ours' }, 204, undefined],
    [{ kind: 'later', afterMs: 1, reason: 'x' }, 503, '1'],
    [{ kind: 'later', afterMs: 2_001, reason: 'x' }, 503, '3'],
    [failed('ProviderRetryAfter', 30_000), 503, '30'],
    [failed('Conflict'), 503, '1'],
    [failed('ProviderFailed'), 503, '5'],
    [failed('NotFound'), 503, '5'],
    [failed('Internal'), 503, '5'],
    [failed('ProviderTerminal'), 422, undefined],
    [failed('ApiDenied'), 422, undefined],
    [failed('BadRequest'), 422, undefined],
  ]
  for (const [outcome, status, retryAfter] of cases) {
    const name = outcome.kind === 'failed' ? `failed ${outcome.error.code}` : outcome.kind
    t.equal(outcomeToResponse(outcome).status, status, name)
    t.equal(outcomeToResponse(outcome).headers['retry-after'], retryAfter, name)
    const answer = await sendFixture(t, 'cloud-events/work', { work: async () => outcome })
    t.match(answer, { status, headers: { 'retry-after': retryAfter } }, name)
    if (status === 204) t.equal(answer.body, '')
  }
  t.equal(retryAfterSeconds(-5), '1')
})

t.test('events are answered by what became of them', async (t) => {
  const change = 'cloud-events/structured-resource-add'
  t.match(await sendFixture(t, change, { acceptEvent: async () => ({ keys: 0 }) }), { status: 204, body: '' })
  const full = fail(new CatalogueError('QueueFull', 'full', { afterMs: 7_000 }))
  t.match(await sendFixture(t, change, { acceptEvent: full }), { status: 503, headers: { 'retry-after': '7' } })
  const running = fail(new CatalogueError('ApiThrottled', 'slow down'))
  t.match(await sendFixture(t, 'cloud-events/ping', { sweep: running }), {
    status: 503,
    headers: { 'retry-after': '1' },
  })
  const { counted } = await sendFixture(t, 'cloud-events/structured-unknown-type', {})
  t.match(counted, ['cloud_events_total{purpose=unknown,result=ignored}'])
})

t.test('a batch gets one answer: again if that helps any, else never again, else 202', async (t) => {
  const answers = [
    { kind: 'settled' },
    { kind: 'failed', error: new CatalogueError('ApiDenied', 'no') },
    { kind: 'later', afterMs: 2_000, reason: 'x' },
    { kind: 'later', afterMs: 9_000, reason: 'x' },
  ] satisfies Outcome[]
  const work = (key: string) => ({
    specversion: '1.0',
    id: key,
    source: '/s',
    type: 'dev.webhook-cloud-provider.work.v1',
    data: { key: `MultiClusterIngress/shop/${key}` },
  })
  for (const [keys, status, retryAfter] of [
    ['0', 202, undefined],
    ['01', 422, undefined],
    ['0123', 503, '9'],
    ['30', 503, '9'],
  ] as const) {
    const done: string[] = []
    const { app, send } = openApp(
      stubDoors({
        work: async ({ key }) => {
          done.push(key.name)
          return answers[Number(key.name)] ?? { kind: 'gone' }
        },
      }),
    )
    const answer = await send({
      method: 'POST',
      path: '/events',
      headers: { 'content-type': 'application/cloudevents-batch+json' },
      body: Buffer.from(JSON.stringify([...keys].map(work))),
    })
    await app.close()
    t.match(answer, { status, headers: { 'retry-after': retryAfter } }, keys)
    t.strictSame(done, [...keys], 'every event had its turn')
  }
})

t.test('a sweep that runs out of time says where to go on', async (t) => {
  const report = {
    listed: 3,
    outcomes: { settled: 3, gone: 0, ignored: 0, later: 0, failed: 0 },
    orphans: { found: 0, removed: 0 },
    continue: 'token',
  }
  const sweep: Doors['sweep'] = ({ scope }, signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve({ scope, ...report })))
  for (const name of ['operations/sweep', 'cloud-events/ping']) {
    const answer = await sendFixture(t, name, { sweep }, { sweepDeadlineMs: 20 })
    t.match(answer, { status: 503, headers: { 'retry-after': '1' } })
    t.match(JSON.parse(answer.body), { scope: 'all', continue: 'token' })
  }
})

t.test('a sweep goes on where the last one stopped', async (t) => {
  const asked: unknown[] = []
  const { app, send } = openApp(
    stubDoors({
      sweep: async (request) => {
        asked.push(request)
        return {
          scope: request.scope,
          listed: 0,
          outcomes: { settled: 0, gone: 0, ignored: 0, later: 0, failed: 0 },
          orphans: { found: 0, removed: 0 },
        }
      },
    }),
  )
  await send({ method: 'POST', path: '/sweep?scope=pending&continue=a%2Fb' })
  await send({ method: 'POST', path: '/sweep?continue=' })
  const tooLong = await send({ method: 'POST', path: `/sweep?continue=${'x'.repeat(9_000)}` })
  await app.close()
  t.strictSame(asked, [{ scope: 'pending', continue: 'a/b' }, { scope: 'all' }])
  t.match(tooLong, { status: 400, body: /query\.continue/ })
  t.ok(tooLong.body.length < 300, 'what was sent is not echoed whole')
})

t.test('work is given up at its deadline', async (t) => {
  const work: Doors['work'] = (_item, signal) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ kind: 'later', afterMs: 1_000, reason: 'deadline' })),
    )
  t.match(await sendFixture(t, 'cloud-events/work', { work }, { workDeadlineMs: 20 }), { status: 503 })
})

t.test('a forged hint waits no longer than a true one', async (t) => {
  const waits: (number | undefined)[] = []
  const { app, send } = openApp(
    stubDoors({
      work: async ({ hints }) => {
        waits.push(hints[0]?.waitUntil)
        return { kind: 'settled' }
      },
    }),
    { clock: { now: () => 1_000, after: () => () => {} } },
  )
  const hint = { object: 'MultiClusterIngress/shop/web', operation: 'CREATE', waitUntil: Number.MAX_SAFE_INTEGER }
  const data = { key: 'MultiClusterIngress/shop/web', hints: [hint] }
  const event = { specversion: '1.0', id: '1', source: '/s', type: 'dev.webhook-cloud-provider.work.v1', data }
  const headers = { 'content-type': 'application/cloudevents+json' }
  await send({ method: 'POST', path: '/events', headers, body: Buffer.from(JSON.stringify(event)) })
  await app.close()
  t.strictSame(waits, [41_000])
})

t.test('with a secret prefix the doors stand behind it, the probes do not', async (t) => {
  const { app, send } = openApp(stubDoors(), { pathPrefix: '/s3cret/x' })
  const status = async (method: string, path: string) => (await send({ method, path })).status
  t.equal(await status('POST', '/s3cret/x/sweep?scope=all'), 200)
  t.equal(await status('OPTIONS', '/s3cret/x/events'), 200)
  t.equal(await status('GET', '/s3cret/x/sweep'), 405)
  for (const path of ['/sweep', '/s3cret/y/sweep', '/s3cret/xsweep', '/s3cret/x', '/s3cret/x/healthz', '/s3cret']) {
    t.equal(await status('POST', path), 404, path)
  }
  t.equal(await status('GET', '/healthz'), 200)
  await app.close()
  for (const pathPrefix of ['', '/', 'x', '/x/', '/a b', '/x?y']) {
    t.throws(() => openApp(stubDoors(), { pathPrefix }), { code: 'ConfigurationInvalid' }, `"${pathPrefix}"`)
  }
})

t.test('answers are counted by route, not by what was asked for', async (t) => {
  const { app, send, counted } = openApp(stubDoors())
  await send({ method: 'GET', path: '/secret/path' })
  await send({ method: 'GET', path: '/healthz' })
  await app.close()
  t.strictSame(counted, ['http_requests_total{door=none,status=404}', 'http_requests_total{door=/healthz,status=200}'])
})
