import { randomUUID } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createJetStreamWorkQueue } from '../../src/adapters/jetstream/jetstream-work-queue.ts'
import { createNatsWorkStream } from '../../src/adapters/jetstream/nats-work-stream.ts'
import { streamNames } from '../../src/adapters/jetstream/stream-names.ts'
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus-metrics.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { QUEUE_METRICS } from '../../src/flow/queue-metrics.ts'
import { silentLogger } from './silent-logger.ts'

/** `node stream-worker.ts URL NAME LOG`: works until it is killed; a line a pass with the hints of it. */
const [url = '', name = '', log = ''] = process.argv.slice(2)
const clock = createSystemClock()
const ackWaitMs = 3_000
const names = streamNames(name)
const queue = createJetStreamWorkQueue({
  stream: createNatsWorkStream({
    servers: [url],
    names,
    capacity: 100_000,
    replicas: 1,
    ackWaitMs,
    clock,
    logger: silentLogger,
  }),
  subjectPrefix: names.workSubjects,
  concurrency: 16,
  workDeadlineMs: 10_000,
  ackWaitMs,
  maxDeliveries: 1_000,
  newId: randomUUID,
  clock,
  logger: silentLogger,
  metrics: createPrometheusMetrics(Object.values(QUEUE_METRICS)),
})

let passes = 0
queue.start(async ({ key, hints }) => {
  passes += 1
  await new Promise((resolve) => setTimeout(resolve, 2))
  // Now and then something is not finished at the first look.
  if (passes % 20 === 0) return { outcome: { kind: 'later', afterMs: 100, reason: 'not yet' }, waiting: hints }
  appendFileSync(log, `${key.name} ${hints.map(({ oldResourceVersion }) => oldResourceVersion).join(',')}\n`)
  return { outcome: { kind: 'settled' }, waiting: [] }
})
// The clock's timers keep no process alive.
setInterval(() => {}, 60_000)
