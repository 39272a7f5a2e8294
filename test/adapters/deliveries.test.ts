import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createJetStreamWorkQueue } from '../../src/adapters/jetstream/jetstream-work-queue.ts'
import { createNatsWorkStream } from '../../src/adapters/jetstream/nats-work-stream.ts'
import { streamNames } from '../../src/adapters/jetstream/stream-names.ts'
import type { WorkStream } from '../../src/adapters/jetstream/work-stream.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { QUEUE_METRICS } from '../../src/flow/queue-metrics.ts'
import { eventually } from '../contracts/kubernetes-api/eventually.ts'
import { type QueueOptions, workQueueContract } from '../contracts/work-queue-contract.ts'
import { STREAM_UNDER_TEST, workStreamContract } from '../contracts/work-stream-contract.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { createMemoryWorkStream } from '../support/memory-work-stream.ts'
import { natsServerMissing, startNatsServer } from '../support/nats-server.ts'
import { silentLogger } from '../support/silent-logger.ts'

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

t.test('the work queue over a stream', async (t) => workQueueContract(t, openStreamQueue, { durable: true }))

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
