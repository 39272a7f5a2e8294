import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  type CertificateAndKey,
  createCertificateAuthority,
} from '../../src/adapters/certificates/certificate-authority.ts'
import { createCloudEventWorkQueue } from '../../src/adapters/cloudevents/cloud-event-work-queue.ts'
import { encodeCloudEvent } from '../../src/adapters/cloudevents/encode-cloud-event.ts'
import { createEventSender, type EventSender } from '../../src/adapters/cloudevents/event-sender.ts'
import { readSink } from '../../src/adapters/cloudevents/read-sink.ts'
import type { CloudEvent } from '../../src/adapters/http/cloud-event.ts'
import { decodeCloudEvents } from '../../src/adapters/http/decode-cloud-event.ts'
import { handleIntent } from '../../src/adapters/http/handle-intent.ts'
import { interpretCloudEvent } from '../../src/adapters/http/interpret-cloud-event.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { nextLook } from '../../src/compose/next-look.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { Hint } from '../../src/domain/work-item.ts'
import { QUEUE_METRICS } from '../../src/flow/queue-metrics.ts'
import type { WorkHandler } from '../../src/ports/work-queue.ts'
import { MEMORY_TRAITS, type QueueOptions, workQueueContract } from '../contracts/work-queue-contract.ts'
import { type BrokerServer, serveBroker } from '../support/broker-server.ts'
import { buildIngress } from '../support/build-objects.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { OPEN_DOORS } from '../support/open-app.ts'
import { silentLogger } from '../support/silent-logger.ts'
import {
  BROKER_DEFAULTS,
  type BrokerEvent,
  createStandInBroker,
  type DeliverySpec,
  type StandInBroker,
  type SubscriberAnswer,
} from '../support/stand-in-broker.ts'
import { stubDoors } from '../support/stub-doors.ts'
import { createWorld, type World } from '../support/world.ts'

const KEY: ObjectKey & { kind: 'MultiClusterIngress' } = {
  kind: 'MultiClusterIngress',
  namespace: 'shop',
  name: 'storefront',
}

const EVENT: BrokerEvent = {
  headers: { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/test', 'ce-type': 'test' },
  body: '',
}

t.test('the stand-in broker keeps the delivery contract of Knative', async (t) => {
  function open(answers: (SubscriberAnswer | 'broken' | 'silent')[], delivery: Partial<DeliverySpec> = {}) {
    const clock = createManualClock()
    const began = clock.now()
    const times: number[] = []
    const seen: BrokerEvent[] = []
    const broker = createStandInBroker({
      clock,
      delivery: { ...BROKER_DEFAULTS, ...delivery },
      async subscriber(event) {
        times.push(clock.now() - began)
        seen.push(event)
        const answer = answers.length > 1 ? answers.shift() : answers[0]
        if (answer === 'silent') return new Promise(() => {})
        if (answer === undefined || answer === 'broken') throw new Error('connection reset')
        return answer
      },
    })
    return { broker, clock, times, seen }
  }

  t.test('which answers are tried again', async (t) => {
    const rows: { answer: SubscriberAnswer | 'broken'; broker: boolean; source: boolean }[] = [
      { answer: 'broken', broker: true, source: true },
      ...[404, 429, 502, 503, 504].map((status) => ({ answer: { status }, broker: true, source: true })),
      ...[408, 409, 500, 501, 507].map((status) => ({ answer: { status }, broker: true, source: false })),
      ...[413, 425].map((status) => ({ answer: { status }, broker: false, source: true })),
      ...[301, 400, 401, 403, 415, 422].map((status) => ({ answer: { status }, broker: false, source: false })),
      { answer: { status: 200, body: 'ok' }, broker: true, source: true },
      { answer: { status: 204 }, broker: false, source: false },
    ]
    for (const { answer, ...expected } of rows) {
      for (const retriedBy of ['broker', 'source'] as const) {
        const { broker, clock, times } = open([answer, { status: 202 }], { retriedBy })
        t.same(broker.receive(EVENT), { status: 202 })
        await clock.advance(60_000)
        t.equal(times.length, expected[retriedBy] ? 2 : 1, `${retriedBy}: ${JSON.stringify(answer)}`)
        t.equal(broker.size(), 0)
      }
    }
  })

  t.test('attempts are further and further apart, and then it is a dead letter that says why', async (t) => {
    const { broker, clock, times } = open([{ status: 503, body: 'busy' }], { retry: 4 })
    broker.receive(EVENT)
    await clock.advance(600_000)
    t.same(times, [0, 400, 1_200, 2_800, 6_000])
    t.match(broker.deadLetters, [
      {
        headers: {
          'ce-id': '1',
          'ce-knativeerrordest': /^http/,
          'ce-knativeerrorcode': '503',
          'ce-knativeerrordata': Buffer.from('busy').toString('base64'),
        },
      },
    ])
    const linear = open([{ status: 503 }], { retry: 3, backoffPolicy: 'linear' })
    linear.broker.receive(EVENT)
    await linear.clock.advance(600_000)
    t.same(linear.times, [0, 200, 600, 1_200])
    const byDefault = open([{ status: 503 }])
    byDefault.broker.receive(EVENT)
    await byDefault.clock.advance(600_000)
    t.equal(byDefault.times.length, 11)
  })

  t.test('Retry-After counts only where it is asked for', async (t) => {
    const answers = () => [{ status: 503, headers: { 'retry-after': '20' } }, { status: 204 }]
    const plain = open(answers())
    plain.broker.receive(EVENT)
    await plain.clock.advance(60_000)
    t.same(plain.times, [0, 400])
    const asked = open(answers(), { retryAfterMaxMs: 15_000 })
    asked.broker.receive(EVENT)
    await asked.clock.advance(60_000)
    t.same(asked.times, [0, 15_000])
  })

  t.test('an answer that does not come in time is none', async (t) => {
    const { broker, clock, times } = open(['silent', { status: 204 }], { timeoutMs: 5_000 })
    broker.receive(EVENT)
    await clock.advance(60_000)
    t.same(times, [0, 5_400])
  })

  t.test('a reply that is an event goes on, one that is none is a failure', async (t) => {
    const { broker, clock } = open([{ status: 200, headers: EVENT.headers, body: '{}' }])
    broker.receive(EVENT)
    await clock.advance(1_000)
    t.equal(broker.replies.length, 1)
    t.same(broker.receive({ headers: {}, body: 'hello' }), { status: 400 }, 'and it takes nothing else')
  })

  t.test('what was stored outlives it, unless it was kept in memory', async (t) => {
    for (const durable of [true, false]) {
      const clock = createManualClock()
      let passes = 0
      const broker = createStandInBroker({
        clock,
        delivery: BROKER_DEFAULTS,
        durable,
        async subscriber() {
          passes += 1
          return { status: passes === 1 ? 503 : 204 }
        },
      })
      broker.receive(EVENT)
      await clock.advance(100)
      broker.down()
      t.equal(broker.receive(EVENT), undefined)
      await clock.advance(60_000)
      t.equal(passes, 1)
      broker.up()
      await clock.advance(1_000)
      t.equal(passes, durable ? 2 : 1)
    }
  })

  t.test('events carry what Knative adds, and may come twice', async (t) => {
    const { broker, clock, seen } = open([{ status: 204 }])
    broker.deliverEach(2)
    broker.receive(EVENT)
    await clock.advance(1_000)
    t.equal(seen.length, 2)
    t.match(seen[0], { headers: { prefer: 'reply', 'kn-namespace': /.+/ } })
  })
})

const BROKER_TRAITS = { ...MEMORY_TRAITS, durable: true, merges: false, schedules: false, bounded: false }

/** The queue, a broker that keeps trying, and our events door, in this process. */
function openBrokerQueue({ workDeadlineMs }: QueueOptions) {
  const clock = createManualClock()
  let handler: WorkHandler | undefined
  const metrics = createPrometheusMetrics(Object.values(QUEUE_METRICS))
  const ignored = { count() {}, observe() {}, set() {} }
  const doors = {
    ...stubDoors(),
    async work(item: Parameters<WorkHandler>[0], signal: AbortSignal) {
      if (handler === undefined) throw new Error('nobody works yet')
      return nextLook(await handler(item, signal), clock.now())
    },
  }
  const options = {
    clock,
    logger: silentLogger,
    metrics: ignored,
    callers: OPEN_DOORS,
    openapi: async () => '{}',
    sweepDeadlineMs: 1_000,
    workDeadlineMs,
  }
  const broker = createStandInBroker({
    clock,
    delivery: { ...BROKER_DEFAULTS, retry: 1_000, backoffPolicy: 'linear', timeoutMs: 1_000_000 },
    async subscriber(event) {
      const [decoded] = eventsIn(event)
      if (decoded === undefined) return { status: 400 }
      try {
        const { status, headers, body } = await handleIntent(interpretCloudEvent(decoded, clock.now()), doors, options)
        return { status, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
      } catch {
        return { status: 500 }
      }
    },
  })
  const sender: EventSender = {
    async post(event) {
      const answer = broker.receive(encodeCloudEvent(event))
      if (answer === undefined) return { kind: 'again', reason: 'ECONNREFUSED', whole: true }
      return answer.status === 202 ? { kind: 'delivered' } : { kind: 'refused', status: answer.status }
    },
    async close() {},
  }
  let ids = 0
  const queue = createCloudEventWorkQueue({
    sender,
    source: '/wcp-test',
    timeoutMs: 1_000,
    newId: () => String(ids++),
    clock,
    logger: silentLogger,
    metrics,
  })
  const start = (work: WorkHandler) => {
    handler = work
  }
  return { queue, clock, broker, advance: clock.advance, start, drain: queue.drain }
}

function eventsIn({ headers, body }: BrokerEvent): CloudEvent[] {
  return decodeCloudEvents({ headers, rawHeaders: Object.entries(headers).flat(), body: Buffer.from(body) }).events
}

t.test('the work queue over a broker', async (t) => workQueueContract(t, openBrokerQueue, BROKER_TRAITS))

t.test('what travels, over HTTP', async (t) => {
  const { queue, received, answer, clock, tokenFile } = await openSink(t)
  const hint: Hint = {
    object: KEY,
    operation: 'UPDATE',
    uid: 'u',
    oldResourceVersion: '7',
    waitUntil: clock.now() + 40_000,
  }
  await queue.add({ key: KEY, hints: [hint] }, { afterMs: 50 })
  await queue.add({ key: { kind: 'IngressClass', namespace: '', name: 'public' }, hints: [] }, { afterMs: 20_000 })
  const [first, second] = received
  t.match(first?.event, {
    id: 'id-0',
    source: '/wcp-test',
    type: 'dev.webhook-cloud-provider.work.v1',
    subject: '/apis/networking.karmada.io/v1alpha1/namespaces/shop/multiclusteringresses/storefront',
  })
  t.same(Object.fromEntries(first?.event.extensions ?? []), {
    kind: 'MultiClusterIngress',
    apiversion: 'networking.karmada.io/v1alpha1',
    namespace: 'shop',
    name: 'storefront',
    partitionkey: 'MultiClusterIngress/shop/storefront',
    team: 'edge',
  })
  t.equal(second?.event.extensions.has('namespace'), false)
  const intents = received.map(({ event }) => interpretCloudEvent(event, clock.now()))
  t.match(intents, [
    { purpose: 'work', item: { key: KEY, hints: [hint] }, dueAt: 0 },
    { purpose: 'work', item: { hints: [] }, dueAt: clock.now() + 20_000 },
  ])

  writeFileSync(tokenFile, 'second\n')
  await queue.add({ key: KEY, hints: [] })
  t.same(
    received.map(({ authorization }) => authorization),
    ['Bearer first', 'Bearer first', 'Bearer second'],
    'the token is read for each request',
  )

  answer((count) => ({ status: count === 1 ? 500 : 202 }))
  await through(clock, queue.add({ key: KEY, hints: [] }))
  t.same(
    received.slice(3).map(({ event }) => event.id),
    ['id-3', 'id-3'],
    'an event that is sent again keeps its id',
  )
})

t.test('a sink over TLS, whose authority SinkBinding gives', async (t) => {
  const authority = await createCertificateAuthority(createSystemClock().now())
  const certificate = await authority.issueServingCertificate(['127.0.0.1'])
  const trusting = await openSink(t, { certificate, K_CA_CERTS: authority.caPem })
  await trusting.queue.add({ key: KEY, hints: [] })
  writeFileSync(trusting.tokenFile, 'second\n')
  await trusting.queue.add({ key: KEY, hints: [] })
  t.same(
    trusting.received.map(({ authorization }) => authorization),
    ['Bearer first', 'Bearer second'],
  )
  rmSync(trusting.tokenFile)
  await t.rejects(through(trusting.clock, trusting.queue.add({ key: KEY, hints: [] })), {
    code: 'QueueUnreachable',
    message: `the sink did not take it (the token file ${trusting.tokenFile} cannot be read (ENOENT))`,
  })

  const { caPem: another } = await createCertificateAuthority(createSystemClock().now())
  for (const K_CA_CERTS of [another, undefined]) {
    const { queue, received, clock, url } = await openSink(t, { certificate, K_CA_CERTS })
    const { host } = new URL(url)
    const message = new RegExp(
      `${host}: its certificate is signed by no authority .*: give its authority in K_CA_CERTS`,
    )
    await t.rejects(through(clock, queue.add({ key: KEY, hints: [] })), { code: 'QueueUnreachable', message })
    t.same(received, [])

    const sink = readSink({}, { K_SINK: url, K_CA_CERTS })
    const world = createWorld({ sink, config: `queue: { kind: cloudevents, sink: "${url}" }\nlock: none` })
    const notify = () => through(world.clock, world.http('POST', '/admission/notify', review('CREATE', buildIngress())))
    t.match(await notify(), { status: 200, body: /"allowed":true/ })
    const began = performance.now()
    for (let index = 0; index < 20; index += 1) t.match(await notify(), { status: 200, body: /"allowed":true/ })
    t.ok(performance.now() - began < 1_000, 'nobody waits for it')
    t.match(
      world.logs.filter(({ level }) => level === 'warn').map(({ fields }) => JSON.stringify(fields)),
      [message],
      'whoever is on call reads it once',
    )
    await world.runtime.drain()
  }
})

t.test('a sink that fails is spared, and nobody waits for it', async (t) => {
  const { queue, received, answer, clock } = await openSink(t)
  const add = () => through(clock, queue.add({ key: KEY, hints: [] }))
  const refused = { code: 'QueueUnreachable', retry: 'after' }

  answer(() => ({ status: 503, headers: { 'retry-after': '40' } }))
  await t.rejects(add(), { ...refused, afterMs: 40_000 })
  t.equal(received.length, 1, 'it has said when to come back')
  for (let asked = 0; asked < 20; asked += 1) await t.rejects(queue.add({ key: KEY, hints: [] }), refused)
  await clock.advance(39_000)
  await t.rejects(queue.add({ key: KEY, hints: [] }), refused)
  t.equal(received.length, 1)
  answer(() => ({ status: 202 }))
  await clock.advance(1_500)
  await add()
  t.equal(received.length, 2)

  answer(() => undefined)
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    received.length = 0
    await t.rejects(add(), refused)
    t.equal(received.length, 3, 'two more attempts, soon')
    await clock.advance(pauseMs - 100)
    await t.rejects(queue.add({ key: KEY, hints: [] }), refused)
    t.equal(received.length, 3, `closed for ${pauseMs} ms`)
    await clock.advance(200)
  }
  answer(() => ({ status: 202 }))
  await add()
  await add()

  answer(() => ({ status: 403 }))
  received.length = 0
  await t.rejects(add(), refused)
  t.equal(received.length, 1, 'what is refused for good is not sent again')
  answer(() => ({ status: 202 }))
  await add()
})

t.test('draining waits for what is on its way', async (t) => {
  const { queue, answer, clock } = await openSink(t)
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<() => void>()
  answer(() => new Promise((resolve) => isAsked(() => resolve({ status: 202 }))))
  const added = queue.add({ key: KEY, hints: [] })
  const release = await asked
  const drained = queue.drain(5_000)
  release()
  await added
  t.same(await through(clock, drained), { left: 0 })
})

t.test('from the review over the broker to the balancer', async (t) => {
  const { world, broker, server, run, notify } = await openBrokeredWorld(t)
  const create = async (name: string) => {
    const ingress = buildIngress({ metadata: { name } })
    await notify('CREATE', ingress)
    await world.create(ingress)
  }

  await create('first')
  await run(() => isServed(world, 'first'))
  t.equal(broker.size(), 0, 'and the broker has nothing left')
  t.same(broker.deadLetters, [])

  t.comment('the broker is stopped with work in it')
  await notify('CREATE', buildIngress({ metadata: { name: 'second' } }))
  await run(() => broker.attempts() > 2)
  await server.down()
  await world.create(buildIngress({ metadata: { name: 'second' } }))
  await run(() => true, 2_000)
  t.notOk(isServed(world, 'second'))
  await server.up()
  await run(() => isServed(world, 'second'))

  t.comment('each event comes three times')
  broker.deliverEach(3)
  await create('third')
  await run(() => isServed(world, 'third') && broker.size() === 0)
  t.equal(world.calls().filter((call) => call === 'ensure').length, 3, 'one balancer each')
  broker.deliverEach(1)

  t.comment('the sink is down')
  await server.down()
  const answer = await notify('CREATE', buildIngress({ metadata: { name: 'fourth' } }))
  t.match(answer, { status: 200, body: /"allowed":true/ })
  const began = performance.now()
  for (let index = 0; index < 20; index += 1) {
    const ingress = buildIngress({ metadata: { name: `more-${index}` } })
    const { pathname } = new URL('http://function/admission/notify')
    t.match(await world.http('POST', pathname, review('CREATE', ingress)), { status: 200, body: /"allowed":true/ })
  }
  t.ok(performance.now() - began < 1_000, 'nobody waits for it')
  await world.create(buildIngress({ metadata: { name: 'fourth' } }))
  await run(() => true, 60_000)
  t.notOk(isServed(world, 'fourth'))
  t.match(await world.http('POST', '/sweep'), { status: 200 })
  t.ok(isServed(world, 'fourth'), 'the sweep finds what the sink did not take')
  t.match(
    await world.runtime.doors.metricsText(),
    /admission_reviews_total\{door="notify",result="queueUnreachable"\} 21/,
  )

  await server.up()
  await world.clock.advance(40_000)
  await create('fifth')
  await run(() => isServed(world, 'fifth'))
  t.same(broker.deadLetters, [])
})

/** A queue before a sink over HTTP that answers as it is told. */
async function openSink(t: Test, tls: { certificate?: CertificateAndKey; K_CA_CERTS?: string | undefined } = {}) {
  const { certificate, K_CA_CERTS } = tls
  type Given = { status: number; headers?: Record<string, string> } | undefined
  const clock = createManualClock()
  const folder = mkdtempSync(join(tmpdir(), 'sink-'))
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, 'first\n')
  const received: { event: CloudEvent; authorization: string | undefined }[] = []
  let answerFor: (count: number) => Given | Promise<Given> = () => ({ status: 202 })
  let count = 0
  const serve = async (message: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { headers, rawHeaders } = message
    const [event] = decodeCloudEvents({ headers, rawHeaders, body: Buffer.concat(chunks) }).events
    if (event !== undefined) received.push({ event, authorization: headers.authorization })
    count += 1
    const answer = await answerFor(count)
    if (answer === undefined) return void response.destroy()
    response.writeHead(answer.status, answer.headers).end()
  }
  const server =
    certificate === undefined
      ? createServer(serve)
      : createSecureServer({ cert: certificate.certPem, key: certificate.keyPem }, serve)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}/`
  const environment = { K_SINK: url, K_CA_CERTS, K_CE_OVERRIDES: '{"extensions":{"team":"edge"}}' }
  const sender = createEventSender(readSink({ tokenFile }, environment), { clock, timeoutMs: 1_000 })
  let ids = 0
  const queue = createCloudEventWorkQueue({
    sender,
    source: '/wcp-test',
    timeoutMs: 1_000,
    newId: () => `id-${ids++}`,
    clock,
    logger: silentLogger,
    metrics: createPrometheusMetrics(Object.values(QUEUE_METRICS)),
  })
  t.teardown(async () => {
    await through(clock, queue.drain(0))
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })
  const answer = (choose: typeof answerFor) => {
    answerFor = choose
    count = 0
  }
  return { queue, received, answer, clock, tokenFile, url }
}

/** The function, its work queue in a broker, which brings the work back to the function's own door. */
async function openBrokeredWorld(t: Test) {
  let broker: StandInBroker | undefined
  const known = () => {
    if (broker === undefined) throw new TypeError('no broker yet')
    return broker
  }
  const server: BrokerServer = await serveBroker({
    receive: (event) => known().receive(event),
    down: () => known().down(),
    up: () => known().up(),
  })
  const sink = { url: server.url, extensions: {} }
  const world = createWorld({ sink, config: `queue: { kind: cloudevents, sink: "${server.url}" }\nlock: none` })
  broker = createStandInBroker({
    clock: world.clock,
    delivery: BROKER_DEFAULTS,
    async subscriber({ headers, body }) {
      const {
        statusCode,
        body: said,
        headers: sent,
      } = await world.runtime.app.inject({
        method: 'POST',
        url: '/events',
        headers,
        payload: body,
      })
      return { status: statusCode, headers: { 'retry-after': `${sent['retry-after'] ?? 0}` }, body: said }
    },
  })
  t.teardown(async () => {
    await through(world.clock, world.runtime.drain())
    await server.down()
  })
  return {
    world,
    broker,
    server,
    /** Time passes until it holds, or for so long. */
    async run(holds: () => boolean, forMs?: number) {
      const end = world.clock.now() + (forMs ?? 120_000)
      while (world.clock.now() < end && (forMs !== undefined || !holds())) {
        await world.clock.advance(100)
        await sleep(1)
      }
      if (!holds()) throw new Error('it did not come to be')
    },
    notify: (operation: string, object: ReturnType<typeof buildIngress>) =>
      through(world.clock, world.http('POST', '/admission/notify', review(operation, object))),
  }
}

function review(operation: string, object: ReturnType<typeof buildIngress>) {
  const { namespace, name } = object.metadata
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: `review-of-${name}`,
      kind: { group: 'networking.karmada.io', version: 'v1alpha1', kind: 'MultiClusterIngress' },
      resource: { group: 'networking.karmada.io', version: 'v1alpha1', resource: 'multiclusteringresses' },
      namespace,
      name,
      operation,
      userInfo: { username: 'somebody' },
      object,
      oldObject: null,
      dryRun: false,
      options: null,
    },
  }
}

function isServed(world: World, name: string): boolean {
  return world.read({ ...KEY, name })?.status?.loadBalancer?.ingress !== undefined
}

/** Time passes while something real is waited for. */
async function through<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  promise.then(end, end)
  while (!isOver) {
    await clock.advance(5)
    await sleep(1)
  }
  return promise
}
