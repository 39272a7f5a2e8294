import { mock } from 'node:test'
import t from 'tap'
import { createPinoLogger } from '../../src/adapters/logging/pino-logger.ts'
import { createMemoryWorkQueue } from '../../src/adapters/memory/memory-work-queue.ts'
import { createProcessLock } from '../../src/adapters/memory/process-lock.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import { QUEUE_METRICS } from '../../src/flow/queue-metrics.ts'
import type { Logger } from '../../src/ports/logger.ts'
import { lockContract } from '../contracts/lock-contract.ts'
import { type QueueOptions, workQueueContract } from '../contracts/work-queue-contract.ts'
import { createManualClock } from '../support/manual-clock.ts'

const KEY: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }
const options = { signal: new AbortController().signal }

function openQueue(settings: Partial<QueueOptions> = {}) {
  const clock = createManualClock()
  const lines: string[] = []
  const metrics = createPrometheusMetrics(Object.values(QUEUE_METRICS))
  const queue = createMemoryWorkQueue({
    concurrency: 4,
    capacity: 100,
    workDeadlineMs: 60_000,
    ...settings,
    clock,
    logger: createPinoLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    metrics,
  })
  return { queue, clock, metrics, lines, advance: clock.advance, start: queue.start, drain: queue.drain }
}

t.test('the work queue in memory', async (t) => workQueueContract(t, openQueue))

t.test('it holds a key until it is settled, and counts', async (t) => {
  const { queue, metrics, advance } = openQueue()
  const failure = new CatalogueError('ApiFailed', 'down')
  let passes = 0
  await queue.add({ key: KEY, hints: [] })
  t.equal(queue.size(), 1)
  queue.start(async () => {
    passes += 1
    return { outcome: passes === 1 ? { kind: 'failed', error: failure } : { kind: 'settled' }, waiting: [] }
  })
  await advance(1)
  t.equal(queue.size(), 1, 'it waits for its second pass')
  await advance(5_000)
  t.equal(queue.size(), 0)
  t.match(
    await metrics.text(),
    /^workqueue_adds_total{name="memory"} 1$[\s\S]*^workqueue_retries_total{name="memory"} 1$/m,
  )
})

t.test('what a drain leaves is logged, and so is a worker that throws', async (t) => {
  const { queue, lines, advance, drain } = openQueue()
  queue.start(async () => {
    throw new Error('a fault of ours')
  })
  await queue.add({ key: KEY, hints: [] })
  await advance(1)
  t.same(await drain(0), { left: 1 })
  t.match(
    lines.map((line) => JSON.parse(line)),
    [
      { level: 50, key: 'MultiClusterIngress/shop/storefront', stack: /a fault of ours/, msg: 'unexpected error' },
      { level: 40, left: 1, msg: 'keys left to the next sweep' },
    ],
  )
})

t.test('the lock within this process', async (t) => {
  lockContract(t, () => {
    const lock = createProcessLock(createManualClock())
    return { one: lock, other: lock }
  })

  t.test('its fences grow over restarts', async (t) => {
    const clock = createManualClock()
    const before = createProcessLock(clock)
    const fences: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const held = await before.acquire(KEY, options)
      fences.push(Number(held?.fence))
      await held?.release()
    }
    await clock.advance(1_000)
    const after = await createProcessLock(clock).acquire(KEY, options)
    t.ok(Number(after?.fence) > Math.max(...fences), `${after?.fence} after ${fences}`)
  })
})

t.test('metrics in the form of Prometheus', async (t) => {
  const metrics = createPrometheusMetrics([
    { name: 'balancers_total', type: 'counter', help: 'Balancers made.', labels: ['kind'] },
    { name: 'pass_seconds', type: 'histogram', help: 'Time of a pass.', labels: [] },
    { name: 'short_seconds', type: 'histogram', help: 'Of its own.', labels: [], buckets: [0.25] },
    { name: 'keys', type: 'gauge', help: 'Keys.', labels: ['name'] },
  ])
  metrics.count('balancers_total', { kind: 'MultiClusterIngress' })
  metrics.count('balancers_total', { kind: 'MultiClusterIngress' }, 2)
  metrics.count('balancers_total', { kind: 'a "quoted"\nname' })
  metrics.observe('pass_seconds', 0.2)
  metrics.observe('pass_seconds', 120)
  metrics.observe('short_seconds', 0.2)
  metrics.set('keys', 3, { name: 'memory' })
  metrics.set('keys', 2, { name: 'memory' })
  const lines = (await metrics.text()).split('\n')
  for (const line of [
    '# HELP balancers_total Balancers made.',
    '# TYPE balancers_total counter',
    'balancers_total{kind="MultiClusterIngress"} 3',
    'balancers_total{kind="a \\"quoted\\"\\nname"} 1',
    '# TYPE pass_seconds histogram',
    'pass_seconds_bucket{le="0.1"} 0',
    'pass_seconds_bucket{le="0.5"} 1',
    'pass_seconds_bucket{le="+Inf"} 2',
    'pass_seconds_count 2',
    'short_seconds_bucket{le="0.25"} 1',
    '# TYPE keys gauge',
    'keys{name="memory"} 2',
  ]) {
    t.ok(lines.includes(line), line)
  }
  const text = await metrics.text()
  t.throws(() => metrics.count('balancer_total'), { message: 'metric balancer_total is not defined' })
  t.throws(() => metrics.observe('balancers_total', 1), TypeError, 'a counter observes nothing')
  t.throws(() => metrics.count('pass_seconds'), TypeError)
  t.throws(() => metrics.set('pass_seconds', 1), TypeError)
  t.throws(() => metrics.count('balancers_total', { colour: 'red' }), 'a label that was not defined')
  t.equal(await metrics.text(), text, 'and nothing of that was counted')
  t.match(await createPrometheusMetrics([]).text(), /^\s*$/, 'two of them know nothing of each other')
})

t.test('log lines', async (t) => {
  const lines: string[] = []
  const open = (level: 'debug' | 'info' | 'silent'): Logger =>
    createPinoLogger({ level, destination: { write: (line) => void lines.push(line) } })
  const last = () => JSON.parse(lines.at(-1) ?? '{}')

  await t.test('are JSON, one object a line', async (t) => {
    const logger = open('info').child({ key: 'MultiClusterIngress/shop/storefront' })
    logger.info({ afterMs: 5, text: 'two\nlines "quoted"' }, 'reconciled')
    logger.warn({ err: new Error('went wrong') }, 'hm')
    t.equal(lines.length, 2)
    t.ok(lines.every((line) => line.indexOf('\n') === line.length - 1))
    t.match(JSON.parse(lines[0] ?? ''), {
      level: 30,
      time: Number,
      key: 'MultiClusterIngress/shop/storefront',
      afterMs: 5,
      text: 'two\nlines "quoted"',
      msg: 'reconciled',
    })
    t.match(last(), { level: 40, err: { message: 'went wrong', stack: /Error: went wrong/ }, msg: 'hm' })
  })

  await t.test('below the level are not written', async (t) => {
    lines.length = 0
    open('info').debug({}, 'quiet')
    open('silent').error({}, 'quiet')
    t.same(lines, [])
    open('debug').debug({}, 'loud')
    t.equal(lines.length, 1)
  })

  await t.test('hold no credentials, wherever they lie', async (t) => {
    const secrets = {
      authorization: 'Bearer s3cret',
      token: 's3cret',
      password: 's3cret',
      clientKey: 's3cret',
      access_token: 's3cret',
    }
    for (const fields of [
      secrets,
      { provider: secrets },
      { request: { headers: secrets } },
      { event: { request: { headers: secrets } } },
    ]) {
      open('info').info({ ...fields, kept: 'yes' }, 'told')
      t.notMatch(lines.at(-1), /s3cret/)
      t.match(lines.at(-1), /\[redacted\]/)
      t.equal(last().kept, 'yes')
    }
    open('info').child(secrets).info({}, 'of a child')
    t.notMatch(lines.at(-1), /s3cret/)
  })

  await t.test('hold nothing secret under other names, nor inside of texts', async (t) => {
    const pem = '-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----'
    const jwt = 'eyJhbGciOiJSUzI1NiJ9.s3cretpayload.s3cretsignature'
    const cause = new Error('GET https://robot:s3cret@cloud.example.com/v1 failed', { cause: new Error(`sent ${jwt}`) })
    const kept: [string, unknown, RegExp?][] = [
      ['options of a provider', { options: { apiToken: 's3cret', nested: [{ 'secret-access-key': 's3cret' }] } }],
      ['a kubeconfig', { kubeconfig: 'apiVersion: v1, users: s3cret' }],
      ['what a kubeconfig holds', { user: { 'client-key-data': 's3cret', 'client-certificate-data': 'c' } }],
      ['a Secret', { object: { kind: 'Secret', metadata: { name: 'tls' }, data: { 'tls.key': 's3cret' } } }, /"tls"/],
      ['texts of a Secret', { object: { kind: 'Secret', stringData: { anything: 's3cret' } } }],
      ['headers', { headers: [{ Cookie: 's3cret' }, { 'Proxy-Authorization': 's3cret' }] }],
      ['a message of somebody else', { reason: 'refused: Authorization was Bearer s3cret.abc-1' }, /refused/],
      ['basic credentials', { reason: 'sent Basic czNjcmV0OnMzY3JldA== to it' }, /Basic \[redacted\] to it/],
      ['a private key', { text: `before ${pem} after` }, /before .* after/],
      ['a password in a URL', { url: 'nats://user:s3cret@broker:4222' }, /broker:4222/],
      ['a JSON Web Token', { reason: `no such key for ${jwt}` }, /no such key/],
      ['an error and its cause', { err: cause }, /cloud\.example\.com/],
    ]
    for (const [title, fields, rest] of kept) {
      open('info').warn(fields as Record<string, unknown>, 'told')
      t.notMatch(lines.at(-1), /s3cret/, title)
      if (rest !== undefined) t.match(lines.at(-1), rest, `${title}: the rest is there`)
    }
  })

  await t.test('keep what is no secret', async (t) => {
    const round: { key: string; self?: unknown } = { key: 'MultiClusterIngress/shop/web' }
    round.self = round
    const fields = {
      key: 'MultiClusterIngress/shop/web',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      durationMs: 12,
      secretName: 'storefront-tls',
      tokenFile: '/var/run/token',
      reason: 'a bearer token is required, basic credentials are not taken',
      kind: 'MultiClusterIngress',
      data: { rows: 1 },
      at: new Date(0),
      size: 10n,
      missing: undefined,
    }
    open('info').info({ ...fields, round }, 'told')
    t.match(last(), { ...fields, at: '1970-01-01T00:00:00.000Z', size: '10', missing: undefined })
    t.match(lines.at(-1), /\[deeper\]/, 'what never ends is cut')
  })
})

t.test('the clock of the system', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const clock = createSystemClock()
  const fired: string[] = []
  const days = 86_400_000
  clock.after(40 * days, () => void fired.push('40 days'))
  clock.after(10, () => void fired.push('10 ms'))
  const cancel = clock.after(30 * days, () => void fired.push('cancelled'))
  mock.timers.tick(10)
  t.same(fired, ['10 ms'], 'a wait longer than a timer of Node can be is no short one')
  const pass = (count: number) => {
    for (let day = 0; day < count; day += 1) mock.timers.tick(days)
  }
  pass(26)
  cancel()
  pass(13)
  t.same(fired, ['10 ms'])
  pass(2)
  t.same(fired, ['10 ms', '40 days'])
  t.equal(clock.now(), Date.now())
})

t.test('the digest', async (t) => {
  t.equal(sha256('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  t.not(sha256('ä'), sha256('a\u0308'))
})
