import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import t, { type Test } from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { createJetStreamWorkQueue } from '../../src/adapters/jetstream/jetstream-work-queue.ts'
import { createNatsWorkStream } from '../../src/adapters/jetstream/nats-work-stream.ts'
import { streamNames } from '../../src/adapters/jetstream/stream-names.ts'
import type { WorkStream } from '../../src/adapters/jetstream/work-stream.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { loadSettings } from '../../src/compose/load-settings.ts'
import { serve } from '../../src/compose/serve.ts'
import { CatalogueError, isCatalogueError } from '../../src/domain/catalogue-error.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { WorkResult } from '../../src/domain/requeue.ts'
import type { Hint, WorkItem } from '../../src/domain/work-item.ts'
import { QUEUE_METRICS } from '../../src/flow/queue-metrics.ts'
import type { ApiObject } from '../../src/local/core/api-object.ts'
import { createControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { karmadaCrds } from '../../src/local/crds/karmada-crds.ts'
import { createLocalClusterStore } from '../../src/local/local-cluster-store.ts'
import { startLocalControlPlane } from '../../src/local/start-local-control-plane.ts'
import type { WorkHandler } from '../../src/ports/work-queue.ts'
import type { ProviderRegistry } from '../../src/provider/registry.ts'
import { createFakeProvider } from '../../src/providers/fake/fake-provider.ts'
import { withLock } from '../../src/reconcilers/with-lock.ts'
import { eventually } from '../contracts/kubernetes-api/eventually.ts'
import { MEMORY_TRAITS, type QueueOptions, workQueueContract } from '../contracts/work-queue-contract.ts'
import { STREAM_UNDER_TEST, workStreamContract } from '../contracts/work-stream-contract.ts'
import { buildClass, buildIngress, buildServiceWorld, CLASS_NAME } from '../support/build-objects.ts'
import { LOCKS, leaseLockOver } from '../support/lease-world.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { createMemoryWorkStream } from '../support/memory-work-stream.ts'
import { natsServerMissing, startNatsServer } from '../support/nats-server.ts'
import { silentLogger } from '../support/silent-logger.ts'

const KEY: ObjectKey = { kind: 'MultiClusterIngress', namespace: 'shop', name: 'storefront' }

const NEVER = new AbortController().signal
const SETTLED: WorkResult = { outcome: { kind: 'settled' }, waiting: [] }

function openStreamQueue(settings: Partial<QueueOptions> = {}) {
  const { concurrency = 4, capacity = 100, workDeadlineMs = 60_000 } = settings
  const clock = createManualClock()
  const stream = createMemoryWorkStream({ clock, capacity, ackWaitMs: 30_000 })
  let ids = 0
  const queue = createJetStreamWorkQueue({
    stream,
    subjectPrefix: 'wcp.work',
    concurrency,
    workDeadlineMs,
    ackWaitMs: 30_000,
    maxDeliveries: 20,
    newId: () => String(ids++),
    clock,
    logger: silentLogger,
    metrics: createPrometheusMetrics(Object.values(QUEUE_METRICS)),
  })
  return { queue, clock, stream, advance: clock.advance, start: queue.start, drain: queue.drain }
}

t.test('a work stream in memory', async (t) =>
  workStreamContract(t, async () => {
    const clock = createManualClock()
    const stream = createMemoryWorkStream({ clock, ...STREAM_UNDER_TEST })
    return { stream, prefix: 'wcp.work', advance: clock.advance }
  }),
)

t.test('the work queue over a stream', async (t) =>
  workQueueContract(t, openStreamQueue, { ...MEMORY_TRAITS, durable: true }),
)

const missing = natsServerMissing(process.env)
/** Tests against a real server. */
const withServer = missing === undefined ? {} : { skip: missing }

t.test('a work stream in NATS JetStream', withServer, async (t) => {
  const server = await startNatsServer()
  t.teardown(() => server.close())
  let streams = 0
  workStreamContract(t, async () => {
    streams += 1
    const names = streamNames(`contract-${streams}`)
    const stream = createNatsWorkStream({
      servers: [server.url],
      names,
      replicas: 1,
      clock: createSystemClock(),
      logger: silentLogger,
      ...STREAM_UNDER_TEST,
    })
    t.teardown(() => stream.close())
    await reachable(stream)
    return { stream, prefix: names.workSubjects, advance: sleep }
  })
})

async function reachable(stream: WorkStream): Promise<void> {
  await eventually(() => stream.last('nothing'))
}

t.test('what kills its workers, what fails for good and what is no work go to the dead letters', async (t) => {
  const { queue, stream, clock } = openStreamQueue()
  const deadly: WorkItem = { key: { ...KEY, name: 'deadly' }, hints: [] }
  await queue.add(deadly)
  for (let death = 0; death < 20; death += 1) {
    await stream.pull(1, () => {}, NEVER)
    await clock.advance(30_000)
  }
  await queue.add({ key: { ...KEY, name: 'denied' }, hints: [] })
  await stream.put('wcp.work.foreign', 'hello', { after: 0, id: 'foreign' })
  const passes: string[] = []
  queue.start(async ({ key }) => {
    passes.push(key.name)
    return { outcome: { kind: 'failed', error: new CatalogueError('ApiDenied', 'not on Fridays') }, waiting: [] }
  })
  await clock.advance(100_000)
  t.same(stream.buried.map(({ subject, reason }) => `${subject}: ${reason}`).sort(), [
    'wcp.work.MultiClusterIngress.shop.deadly: handed out 21 times without an answer',
    'wcp.work.MultiClusterIngress.shop.denied: not on Fridays',
    'wcp.work.foreign: not a state of ours',
  ])
  t.same(passes, ['denied'])
  t.equal(stream.size(), 0)
})

t.test('a stream that cannot be told the result hands the key out again', async (t) => {
  const { queue, stream, clock } = openStreamQueue()
  const { put } = stream
  await queue.add({ key: KEY, hints: [] })
  stream.put = async () => {
    throw new CatalogueError('QueueUnreachable', 'down')
  }
  let passes = 0
  queue.start(async () => {
    passes += 1
    if (passes === 3) stream.put = put
    return passes < 5 ? { outcome: { kind: 'later', afterMs: 5_000, reason: 'not yet' }, waiting: [] } : SETTLED
  })
  await clock.advance(1_500)
  t.equal(passes, 2, 'after a second, and not when it was due, which nobody knows')
  await clock.advance(20_000)
  t.equal(passes, 5)
  t.equal(stream.size(), 0)
})

t.test('over a real server', withServer, async (t) => {
  const server = await startNatsServer()
  t.teardown(() => server.close())
  const open = async (t: Test, name: string, ackWaitMs = 2_000) => {
    const opened = natsQueue(server.url, name, { ackWaitMs })
    t.teardown(async () => {
      await opened.queue.drain(0)
      await opened.stream.close()
    })
    await reachable(opened.stream)
    return opened
  }

  t.test('a pass that takes longer than the stream waits is one pass', async (t) => {
    const { queue } = await open(t, 'slow', 1_000)
    let passes = 0
    let isDone = false
    queue.start(async () => {
      passes += 1
      await sleep(3_500)
      isDone = true
      return SETTLED
    })
    await queue.add({ key: KEY, hints: [] })
    await until(() => isDone)
    await sleep(1_500)
    t.equal(passes, 1)
  })

  t.test('what is not finished or not visible yet comes when it says', async (t) => {
    const { queue } = await open(t, 'delays')
    const began = performance.now()
    const times: number[] = []
    const hint: Hint = { object: KEY, operation: 'CREATE', waitUntil: Date.now() + 39_500 }
    const results: WorkResult[] = [
      { outcome: { kind: 'later', afterMs: 700, reason: 'not yet' }, waiting: [] },
      { outcome: { kind: 'ignored', reason: 'not visible yet' }, waiting: [hint] },
    ]
    const hints: number[] = []
    queue.start(async (item) => {
      times.push(performance.now() - began)
      hints.push(item.hints.length)
      return results.shift() ?? SETTLED
    })
    await queue.add({ key: KEY, hints: [] }, { afterMs: 300 })
    await until(() => times.length === 3)
    const [first = 0, second = 0, third = 0] = times
    t.ok(first >= 299 && first < 1_800, `${first}`)
    t.ok(second - first >= 699 && second - first < 2_200, `${second - first}`)
    t.ok(third - second >= 400 && third - second < 3_500, `${third - second}`)
    t.same(hints, [0, 0, 1])
  })

  t.test('a terminal failure is a dead letter with its reason', async (t) => {
    const { queue, names } = await open(t, 'dead')
    let passes = 0
    queue.start(async () => {
      passes += 1
      return { outcome: { kind: 'failed', error: new CatalogueError('ApiDenied', 'not on Fridays') }, waiting: [] }
    })
    await queue.add({ key: KEY, hints: [] })
    const connection = await connect({ servers: [server.url] })
    t.teardown(() => connection.close())
    const { streams } = await jetstreamManager(connection)
    const subject = `${names.deadSubjects}.MultiClusterIngress.shop.storefront`
    await until(async () => (await streams.getMessage(names.deadStream, { last_by_subj: subject })) !== null)
    const letter = await streams.getMessage(names.deadStream, { last_by_subj: subject })
    t.equal(letter?.header.get('Reason'), 'not on Fridays')
    t.match(letter?.json(), { key: 'MultiClusterIngress/shop/storefront' })
    t.equal(passes, 1)
    await until(async () => (await streams.info(names.workStream)).state.messages === 0)
  })

  t.test('a drain finishes what is begun, and another process does the rest', async (t) => {
    const one = await open(t, 'drained')
    const begun: string[] = []
    const finished: string[] = []
    const work =
      (ms: number): WorkHandler =>
      async ({ key }) => {
        begun.push(key.name)
        await sleep(ms)
        finished.push(key.name)
        return SETTLED
      }
    for (let index = 0; index < 30; index += 1) await one.queue.add({ key: { ...KEY, name: `k${index}` }, hints: [] })
    one.queue.start(work(200))
    await until(() => begun.length > 8)
    t.same(await one.queue.drain(5_000), { left: 0 })
    t.same(finished.toSorted(), begun.toSorted())
    t.ok(finished.length < 30, `${finished.length}`)
    const other = await open(t, 'drained')
    other.queue.start(work(1))
    await until(() => finished.length >= 30)
    t.equal(new Set(finished).size, 30)
    t.equal(finished.length, 30, 'each once')
  })

  t.test('with a lock one pass a key at a time, in whatever process, and the last addition is seen', async (t) => {
    const queues = [await open(t, 'locked'), await open(t, 'locked'), await open(t, 'locked')]
    const clock = createSystemClock()
    const core = createControlPlaneCore({
      clock,
      uid: randomUUID,
      nameSuffix: () => 'x',
      namespaces: [LOCKS.namespace],
    })
    const store = createLocalClusterStore(core, 'function')
    const running = new Set<string>()
    const world = new Map<string, number>()
    const seen = new Map<string, number>()
    const faults: string[] = []
    for (const [index, { queue }] of queues.entries()) {
      const serverClock = { serverNow: clock.now }
      const lock = leaseLockOver({ store, serverClock, clock, instance: `instance-${index}`, owner: 'test/fake' })
      queue.start(async ({ key }, signal) => ({
        outcome: await withLock(lock, key, signal, async () => {
          if (running.has(key.name)) faults.push(key.name)
          running.add(key.name)
          const version = world.get(key.name) ?? 0
          await sleep(5)
          running.delete(key.name)
          seen.set(key.name, Math.max(version, seen.get(key.name) ?? 0))
          return { kind: 'settled' }
        }),
        waiting: [],
      }))
    }
    for (let version = 1; version <= 100; version += 1) {
      await Promise.all(
        queues.map(async ({ queue }, index) => {
          const name = `k${(version + index) % 4}`
          world.set(name, (world.get(name) ?? 0) + 1)
          await queue.add({ key: { ...KEY, name }, hints: [] })
        }),
      )
    }
    await until(() => [...world].every(([name, version]) => seen.get(name) === version))
    t.same(faults, [])
    t.equal(world.size, 4)
  })
})

t.test('without its server the queue says so at once, and works when it comes', withServer, async (t) => {
  const server = await startNatsServer()
  await server.kill()
  const { queue, stream } = natsQueue(server.url, 'late', { ackWaitMs: 2_000 })
  t.teardown(async () => {
    await queue.drain(0)
    await stream.close()
    await server.close()
  })
  const passes: string[] = []
  queue.start(async ({ key }) => {
    passes.push(key.name)
    return SETTLED
  })
  const refused = { code: 'QueueUnreachable', retry: 'after', afterMs: 1_000 }
  const began = performance.now()
  for (let asked = 0; asked < 20; asked += 1) await t.rejects(queue.add({ key: KEY, hints: [] }), refused)
  t.ok(performance.now() - began < 500, 'nobody waits for it')

  await server.start()
  await eventually(() => queue.add({ key: { ...KEY, name: 'first' }, hints: [] }))
  await until(() => passes.includes('first'))

  await server.kill()
  const later = performance.now()
  await t.rejects(queue.add({ key: KEY, hints: [] }), refused)
  await t.rejects(queue.add({ key: KEY, hints: [] }), refused)
  t.ok(performance.now() - later < 3_000)
  await server.start()
  await eventually(() => queue.add({ key: { ...KEY, name: 'second' }, hints: [] }))
  await until(() => passes.includes('second'))
})

function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  return eventually(async () => {
    if (!(await holds())) throw new Error('it did not come to be')
  })
}

t.test('two functions as they are served: what one is told of, either does, once', withServer, async (t) => {
  const clock = createSystemClock()
  const server = await startNatsServer()
  const folder = mkdtempSync(join(tmpdir(), 'served-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const controlPlane = await startLocalControlPlane({
    clock,
    authority: await createCertificateAuthority(clock.now()),
    definitions: karmadaCrds,
  })
  writeFileSync(kubeconfig, controlPlane.kubeconfig)
  const namespaces = ['shop', 'webhook-cloud-provider']
  controlPlane.core.preload([
    ...namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
    ...([buildClass(), ...buildServiceWorld('web')] as unknown as ApiObject[]),
  ])
  const fake = createFakeProvider({ delayMs: 50, failure: () => undefined, clock })
  const text = `
    provider: { name: fake }
    callers: { anyone: true }
    ingressClass: { names: [${CLASS_NAME}] }
    kubernetes: { kubeconfig: ${kubeconfig} }
    server: { host: 127.0.0.1, port: 0 }
    queue: { kind: jetstream, servers: ["${server.url}"] }`
  const settings = () =>
    loadSettings({
      text,
      environment: {},
      registry: { factory: async () => () => fake } as unknown as ProviderRegistry,
      clock,
      createLogger: () => silentLogger,
    })
  t.match((await settings()).config, { lock: 'lease', queue: { kind: 'jetstream', ackWaitMs: 30_000 } })
  const functions = [await serve(await settings(), clock), await serve(await settings(), clock)]
  t.teardown(async () => {
    await Promise.all(functions.map((each) => each.close()))
    await controlPlane.close()
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const target = { group: 'networking.karmada.io', version: 'v1alpha1', plural: 'multiclusteringresses' }
  const user = { user: { username: 'somebody', groups: ['system:masters'] } }
  const notify = (port: number | undefined, name: string) =>
    fetch(`http://127.0.0.1:${port}/events`, {
      method: 'POST',
      headers: {
        'ce-specversion': '1.0',
        'ce-id': name,
        'ce-source': '/test',
        'ce-type': 'dev.knative.apiserver.ref.add',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ apiVersion: 'networking.karmada.io/v1alpha1', kind: KEY.kind, namespace: 'shop', name }),
    })
  const names = Array.from({ length: 40 }, (_, index) => `web-${index}`)
  for (const name of names) {
    await controlPlane.core.create({ ...target, namespace: 'shop' }, buildIngress({ metadata: { name } }), user)
  }
  await until(async () => (await notify(functions[0]?.port, names[0] ?? '')).status === 202)
  for (const [index, name] of names.entries()) {
    const { status } = await notify(functions[index % 2]?.port, name)
    t.equal(status, 202)
    // Told twice, by both.
    await notify(functions[(index + 1) % 2]?.port, name)
  }
  const served = () =>
    controlPlane.core.list(target).items.filter(({ status }) => JSON.stringify(status ?? {}).includes('"ip"')).length
  await until(() => served() === names.length)
  const ensured = fake.cloud.calls().filter(({ method }) => method === 'ensure')
  t.equal(new Set(ensured.map(({ identity }) => identity.name)).size, names.length)
  t.equal(ensured.length, names.length, 'no balancer was made twice')
  await until(
    () => controlPlane.core.list({ group: 'coordination.k8s.io', version: 'v1', plural: 'leases' }).items.length === 0,
  )
  t.pass('and no Lease is left')
})

t.test(
  '10,000 items, a server that is killed and workers that are killed: each handled, none lost',
  withServer,
  async (t) => {
    const ITEMS = 10_000
    const KEYS = 4_000
    const server = await startNatsServer()
    const folder = mkdtempSync(join(tmpdir(), 'deliveries-'))
    const log = join(folder, 'passes')
    writeFileSync(log, '')
    const workers = openWorkers(server.url, log, 4)
    const producer = natsQueue(server.url, 'many', { ackWaitMs: 3_000 })
    t.teardown(async () => {
      await workers.close()
      await producer.stream.close()
      await server.close()
      rmSync(folder, { recursive: true, force: true })
    })
    const started = performance.now()
    let refused = 0

    /** As a caller whose event is not taken: it is told again, as a sweep would. */
    async function add(index: number): Promise<void> {
      const key = { ...KEY, name: `key-${index % KEYS}` }
      const hint: Hint = { object: key, operation: 'UPDATE', oldResourceVersion: String(index) }
      for (;;) {
        try {
          return await producer.queue.add({ key, hints: [hint] })
        } catch (error) {
          if (!isCatalogueError(error, 'QueueUnreachable')) throw error
          refused += 1
          await sleep(100)
        }
      }
    }
    const indexes = Array.from({ length: ITEMS }, (_, index) => index).values()
    const adding = Promise.all(
      Array.from({ length: 40 }, async () => {
        for (const index of indexes) {
          await add(index)
          await sleep(15)
        }
      }),
    )
    let restarts = 0
    let isOver = false
    const trouble = (async () => {
      for (let round = 0; round < 12 && !isOver; round += 1) {
        await sleep(300 + ((round * 137) % 400))
        await workers.killOne()
        if (round % 3 !== 2) continue
        await server.kill()
        await sleep(200)
        await server.start()
        restarts += 1
      }
    })()
    await adding
    await trouble
    const handled = new Set<string>()
    let passes = 0
    await eventually(
      () => {
        const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
        passes = lines.length
        for (const line of lines)
          for (const id of (line.split(' ')[1] ?? '').split(',').filter(Boolean)) handled.add(id)
        if (handled.size < ITEMS) throw new Error(`${ITEMS - handled.size} items are not handled`)
      },
      45_000,
      200,
    )
    isOver = true
    const seconds = ((performance.now() - started) / 1_000).toFixed(1)
    t.equal(handled.size, ITEMS)
    t.ok(restarts >= 3 && workers.kills() >= 10)
    t.comment(
      `${ITEMS} items of ${KEYS} keys: ${handled.size} handled in ${passes} passes, 0 lost; ` +
        `${restarts} server kills, ${workers.kills()} worker kills, ${refused} adds refused and told again, ${seconds} s`,
    )
  },
)

function openWorkers(url: string, log: string, count: number) {
  const script = join(import.meta.dirname, '../support/stream-worker.ts')
  const open = () => spawn(process.execPath, [script, url, 'many', log], { stdio: 'inherit', env: {} })
  const running = Array.from({ length: count }, open)
  let kills = 0
  const end = async (worker: ChildProcess) => {
    if (worker.exitCode !== null || worker.signalCode !== null) return
    const exited = new Promise((resolve) => void worker.once('exit', resolve))
    worker.kill('SIGKILL')
    await exited
  }
  return {
    kills: () => kills,
    async killOne() {
      const victim = running.shift()
      if (victim !== undefined) await end(victim)
      kills += 1
      running.push(open())
    },
    close: () => Promise.all(running.map(end)),
  }
}

function natsQueue(url: string, name: string, { ackWaitMs }: { ackWaitMs: number }) {
  const clock = createSystemClock()
  const names = streamNames(name)
  const stream = createNatsWorkStream({
    servers: [url],
    names,
    capacity: 100_000,
    replicas: 1,
    ackWaitMs,
    clock,
    logger: silentLogger,
  })
  const queue = createJetStreamWorkQueue({
    stream,
    subjectPrefix: names.workSubjects,
    concurrency: 8,
    workDeadlineMs: 30_000,
    ackWaitMs,
    maxDeliveries: 20,
    newId: randomUUID,
    clock,
    logger: silentLogger,
    metrics: createPrometheusMetrics(Object.values(QUEUE_METRICS)),
  })
  return { stream, queue, names }
}
