import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createNatsWorkStream } from '../src/adapters/jetstream/nats-work-stream.ts'
import { streamNames } from '../src/adapters/jetstream/stream-names.ts'
import { createSystemClock } from '../src/adapters/system/system-clock.ts'
import { createOtlpTracer } from '../src/adapters/tracing/otlp-tracer.ts'
import { runFunction } from '../src/compose/run-function.ts'
import { measuredOnly, type Telemetry } from '../src/compose/telemetry.ts'
import { kubeconfigOf } from '../src/local/kubeconfig.ts'
import type { Logger } from '../src/ports/logger.ts'
import { createProviderRegistry } from '../src/provider/registry.ts'
import { fakeProviderFactory } from '../src/providers/fake/fake-provider.ts'
import { buildIngress } from './support/build-objects.ts'
import { buildReview } from './support/build-review.ts'
import { startEventReceiver } from './support/event-receiver.ts'
import { natsServerMissing, startNatsServer } from './support/nats-server.ts'
import { silentLogger } from './support/silent-logger.ts'
import { startStubApiServer } from './support/stub-api-server.ts'
import { type CollectedSpan, pathOf, startTraceCollector, type TraceCollector } from './support/trace-collector.ts'
import { createWorld, type World, type WorldOptions } from './support/world.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const headers = (trace = TRACE, span = CALLER) => ({ traceparent: `00-${trace}-${span}-01` })

interface TracedWorld {
  world: World
  collector: TraceCollector
  /** A review by an API server that traces. */
  notify(body: object, sent?: Record<string, string>): Promise<void>
  /** Everything that was traced. */
  spans(): Promise<CollectedSpan[]>
}

async function openTracedWorld(t: Test, options: WorldOptions = {}): Promise<TracedWorld> {
  const collector = await startTraceCollector()
  t.teardown(() => collector.close())
  const telemetry = tracing(collector.url)
  const world = createWorld({ ...options, telemetry })
  return {
    world,
    collector,
    async notify(body, sent = headers()) {
      const request = {
        method: 'POST',
        url: '/admission/notify',
        headers: { 'content-type': 'application/json', ...sent },
      }
      const answer = await world.runtime.app.inject({ ...request, payload: JSON.stringify(body) } as never)
      t.match(answer, { statusCode: 200 })
    },
    async spans() {
      await telemetry.close()
      return collector.spans
    },
  }
}

function tracing(endpoint: string, logger: Logger = silentLogger): Telemetry {
  const clock = createSystemClock()
  return { ...measuredOnly(), ...createOtlpTracer({ endpoint, sampleRatio: 1, clusterId: 'one', clock, logger }) }
}

t.test('one trace leads from the API server’s review over the queue in memory to the provider', async (t) => {
  const { world, collector, notify, spans } = await openTracedWorld(t)
  await notify(buildReview('CREATE', buildIngress()))
  await world.create(buildIngress())
  await world.clock.advance(10_000)
  const ours = await spans()
  t.same(collector.paths, ['/v1/traces'])
  t.match(collector.resources[0], { 'service.name': 'webhook-cloud-provider', 'k8s.cluster.name': 'one' })
  t.same([...new Set(ours.map(({ traceId }) => traceId))], [TRACE])
  t.equal(ours.find(({ name }) => name === 'admission notify')?.parentSpanId, CALLER)
  const work = 'admission notify > work MultiClusterIngress'
  const paths = ours.map((span) => pathOf(span, ours))
  for (const path of [
    work,
    `${work} > gather`,
    `${work} > look > provider getLoadBalancer`,
    `${work} > provider ensureLoadBalancer`,
  ]) {
    t.ok(paths.includes(path), path)
  }
  const served = ours.filter(({ name }) => name === 'work MultiClusterIngress').at(-1)
  t.match(served?.attributes, [
    { key: 'key', value: { stringValue: 'MultiClusterIngress/shop/storefront' } },
    { key: 'events', value: { intValue: 1 } },
    { key: 'outcome', value: { stringValue: 'settled' } },
  ])
  const line = world.logs.findLast(
    ({ message, fields }) => message === 'reconciled' && JSON.stringify(fields).includes('MultiClusterIngress'),
  )
  t.match(line?.fields, { key: 'MultiClusterIngress/shop/storefront', durationMs: Number, traceId: TRACE })
})

t.test('work that several events asked for is linked to each of them', async (t) => {
  const { world, notify, spans } = await openTracedWorld(t)
  await world.create(buildIngress())
  const other = 'a'.repeat(32)
  await notify(buildReview('CREATE', buildIngress()))
  await world.clock.advance(1)
  await notify(buildReview('CREATE', buildIngress()), headers(other, 'b'.repeat(16)))
  await world.clock.advance(10_000)
  const ours = await spans()
  const asked = ours.filter(({ name }) => name === 'admission notify')
  const [work, ...more] = ours.filter(({ name }) => name === 'work MultiClusterIngress')
  t.same(more, [], 'they are one piece of work')
  t.match(work, { traceId: TRACE, parentSpanId: asked[0]?.spanId })
  t.match(work?.links, [{ traceId: other, spanId: asked[1]?.spanId }])
})

t.test('what fails is an error on its span, and the trace goes on with the retry', async (t) => {
  let failures = 0
  const { world, notify, spans } = await openTracedWorld(t, {
    failure: ({ method }) =>
      method === 'ensure' && failures++ === 0 ? { when: 'before', error: new Error('down') } : undefined,
  })
  await world.create(buildIngress())
  await notify(buildReview('CREATE', buildIngress()))
  await world.clock.advance(60_000)
  const ours = await spans()
  const works = ours.filter(({ name }) => name === 'work MultiClusterIngress')
  const admission = ours.find(({ name }) => name === 'admission notify')
  t.equal(works.length, 2)
  t.same(
    works.map(({ parentSpanId }) => parentSpanId),
    [admission?.spanId, admission?.spanId],
  )
  t.match(works[0]?.status, { code: 2, message: 'ProviderFailed' })
  t.match(ours.find(({ name }) => name === 'provider ensureLoadBalancer')?.status, {
    code: 2,
    message: 'ProviderFailed',
  })
  t.notMatch(works[1]?.status, { code: 2 })
})

t.test('a trace goes on through a broker of CloudEvents', async (t) => {
  const sink = await startEventReceiver()
  t.teardown(() => sink.down())
  const { world, notify, spans } = await openTracedWorld(t, {
    config: `queue: { kind: cloudevents, sink: '${sink.url}' }\nlock: none\n`,
    sink: { url: sink.url, extensions: {} },
  })
  t.teardown(() => world.runtime.queue.drain(0))
  await world.create(buildIngress())
  await notify(buildReview('CREATE', buildIngress()))
  const [sent] = sink.received
  t.match(sent?.event.extensions.get('traceparent'), `00-${TRACE}-`)
  t.comment('the broker brings it under a trace of its own')
  const broker = headers('c'.repeat(32), 'd'.repeat(16))
  const request = { method: 'POST', url: '/events', headers: { ...sent?.headers, ...broker }, payload: sent?.body }
  const answer = world.runtime.app.inject(request as never)
  await world.clock.advance(10_000)
  t.match(await answer, { statusCode: 204 })
  const ours = await spans()
  t.same([...new Set(ours.map(({ traceId }) => traceId))], [TRACE])
  const paths = ours.map((span) => pathOf(span, ours))
  for (const path of [
    'admission notify > events',
    'admission notify > work MultiClusterIngress',
    'admission notify > work MultiClusterIngress > provider ensureLoadBalancer',
  ]) {
    t.ok(paths.includes(path), path)
  }
})

const missing = natsServerMissing(process.env)

t.test('a trace goes on through NATS JetStream', missing === undefined ? {} : { skip: missing }, async (t) => {
  const server = await startNatsServer()
  t.teardown(() => server.close())
  const { world, notify, spans } = await openTracedWorld(t, {
    config: `queue: { kind: jetstream, name: traced, servers: ['${server.url}'] }\nlock: none\n`,
  })
  const drained = () => world.runtime.queue.drain(0)
  t.teardown(drained)
  await world.create(buildIngress())
  const look = createNatsWorkStream({
    servers: [server.url],
    names: streamNames('traced'),
    replicas: 1,
    capacity: 10_000,
    ackWaitMs: 30_000,
    clock: createSystemClock(),
    logger: silentLogger,
  })
  t.teardown(() => look.close())
  await eventually(() => look.last('nothing'))
  await eventually(() => notify(buildReview('CREATE', buildIngress())).then(() => assertQueued(world)))
  await eventually(async () => {
    await world.clock.advance(100)
    if (!world.calls().includes('ensure')) throw new Error('not served yet')
  })
  await world.clock.advance(1_000)
  await drained()
  const ours = await spans()
  const paths = ours.map((span) => pathOf(span, ours))
  t.ok(paths.includes('admission notify > work MultiClusterIngress > provider ensureLoadBalancer'), paths.join('\n'))
  t.same([...new Set(ours.map(({ traceId }) => traceId))], [TRACE])
})

async function assertQueued(world: World): Promise<void> {
  const told = world.logs.filter(({ message }) => message.startsWith('admission') || message.includes('broker did not'))
  if (!('result' in (told.at(-1)?.fields ?? {})) || JSON.stringify(told.at(-1)?.fields).includes('queueUnreachable')) {
    throw new Error('the stream does not take it yet')
  }
}

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries > 400) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
}

t.test('sweeps are traces of their own', async (t) => {
  const { world, spans } = await openTracedWorld(t)
  await world.create(buildIngress())
  await world.http('POST', '/sweep')
  const ours = await spans()
  const paths = ours.map((span) => pathOf(span, ours))
  t.ok(paths.includes('sweep request > sweep > provider ensureLoadBalancer'), paths.join('\n'))
})

t.test('what callers send as trace context is theirs to get wrong', async (t) => {
  const { world, notify, spans } = await openTracedWorld(t)
  await world.create(buildIngress())
  const wrong = ['', 'x', `00-${'0'.repeat(32)}-${CALLER}-01`, `00-${TRACE}-${CALLER}-01-more`, 'ff-'.repeat(5_000)]
  for (const traceparent of wrong) await notify(buildReview('CREATE', buildIngress()), { traceparent })
  await notify(buildReview('CREATE', buildIngress()), { ...headers(), tracestate: 'k=\u00e9'.repeat(300) })
  const asked = (await spans()).filter(({ name }) => name === 'admission notify')
  t.equal(asked.length, wrong.length + 1)
  t.same(
    asked.slice(0, -1).map(({ parentSpanId = '' }) => parentSpanId),
    wrong.map(() => ''),
  )
  t.equal(asked.at(-1)?.parentSpanId, CALLER)
})

t.test('a collector that is down costs no work, and little at the end', async (t) => {
  const collector = await startTraceCollector()
  const lines: string[] = []
  const logger: Logger = { ...silentLogger, warn: (_fields, message) => void lines.push(message) }

  await t.test('nobody listens', async (t) => {
    const telemetry = tracing('http://127.0.0.1:9', logger)
    const world = createWorld({ telemetry })
    await world.create(buildIngress())
    await world.http('POST', '/admission/notify', buildReview('CREATE', buildIngress()))
    await world.clock.advance(10_000)
    t.ok(world.calls().includes('ensure'))
    for (let index = 0; index < 20_000; index += 1) await telemetry.tracer.begin({ name: 'much' }, async () => {})
    const began = performance.now()
    await telemetry.close()
    t.ok(performance.now() - began < 4_000, 'the end does not wait for it')
    t.ok(lines.length > 0 && lines.every((line) => line.includes('lost')), `it is said: ${lines}`)
    t.equal(new Set(lines).size, lines.length, 'once each')
  })

  await t.test('it takes requests and never answers', async (t) => {
    collector.hang()
    const telemetry = tracing(collector.url, logger)
    await telemetry.tracer.begin({ name: 'one' }, async () => {})
    const began = performance.now()
    await telemetry.close()
    t.ok(performance.now() - began < 4_000)
    t.equal(lines.at(-1), 'the last traces are lost: the collector is too slow')
  })
  await collector.close()
})

t.test('the function sends its last spans before it ends', async (t) => {
  const collector = await startTraceCollector()
  const api = await startStubApiServer()
  t.teardown(() => Promise.all([collector.close(), api.close()]))
  api.answer({ status: 403, body: { kind: 'Status', reason: 'Forbidden' } })
  const kubeconfig = kubeconfigOf({ url: api.url, caPem: api.caPem, token: 't', user: 'u' })
  const config =
    'provider: { name: fake }\nserver: { host: 127.0.0.1 }\nkubernetes: { kubeconfig: KUBECONFIG }\ncallers: { anyone: true }\n'
  const directory = t.testdir({ kubeconfig })
  const configFile = join(directory, 'config.yaml')
  writeFileSync(configFile, config.replace('KUBECONFIG', join(directory, 'kubeconfig')))
  const lines: string[] = []
  let stop = () => {}
  const running = runFunction({
    configFile,
    environment: { PORT: '0', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    registry: createProviderRegistry({ fake: fakeProviderFactory }),
    stopped: new Promise((resolve) => (stop = resolve)),
    write: (line) => void lines.push(line),
  })
  const portOf = (line: string) => (JSON.parse(line) as { port?: number }).port
  await eventually(async () => {
    if (lines.every((line) => portOf(line) === undefined)) throw new Error('it does not listen yet')
  })
  const port = lines.map(portOf).find((found) => found !== undefined)
  const answer = await fetch(`http://127.0.0.1:${port}/sweep`, { method: 'POST', headers: headers() })
  await answer.text()
  stop()
  await running
  const paths = collector.spans.map((span) => pathOf(span, collector.spans))
  t.ok(paths.includes('sweep request > sweep > GET IngressClass'), paths.join('\n'))
  t.match(
    collector.spans.find(({ name }) => name === 'sweep'),
    { traceId: TRACE, status: { code: 2, message: 'ApiForbidden' } },
  )
})

t.test('no SDK and no exporter is loaded unless traces are wanted', async (t) => {
  const run = (...args: string[]) => {
    const script = join(import.meta.dirname, 'support/loaded-modules.ts')
    const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
    t.equal(status, 0, stderr)
    return JSON.parse(stdout) as { calls: string[]; loaded: number }
  }
  const off = run()
  t.ok(off.calls.includes('ensure'), 'it served')
  t.equal(off.loaded, 0)
  const on = run('http://127.0.0.1:9')
  t.ok(on.loaded > 10, `${on.loaded} modules with traces: the check can fail`)
})
