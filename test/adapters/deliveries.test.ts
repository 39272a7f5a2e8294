import t from 'tap'
import { createJetStreamWorkQueue } from '../../src/adapters/jetstream/jetstream-work-queue.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { QUEUE_METRICS } from '../../src/flow/queue-metrics.ts'
import { type QueueOptions, workQueueContract } from '../contracts/work-queue-contract.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { createMemoryWorkStream } from '../support/memory-work-stream.ts'
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

t.test('the work queue over a stream', async (t) => workQueueContract(t, openStreamQueue, { durable: true }))
