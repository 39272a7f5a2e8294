import { randomUUID } from 'node:crypto'
import { createJetStreamWorkQueue } from '../adapters/jetstream/jetstream-work-queue.ts'
import { createNatsWorkStream } from '../adapters/jetstream/nats-work-stream.ts'
import { streamNames } from '../adapters/jetstream/stream-names.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import { installationOf, type WorkQueueParts } from './work-queue-parts.ts'

export function createJetStream({ config, clock, logger, metrics }: WorkQueueParts): WorkedQueue {
  const { queue, work } = config
  const names = streamNames(queue.name ?? installationOf(config))
  const { servers, credentialsFile, caFile, ...settings } = queue
  const stream = createNatsWorkStream({
    ...settings,
    servers,
    ...(credentialsFile === undefined ? {} : { credentialsFile }),
    ...(caFile === undefined ? {} : { caFile }),
    names,
    clock,
    logger,
  })
  const worked = createJetStreamWorkQueue({
    ...settings,
    stream,
    subjectPrefix: names.workSubjects,
    workDeadlineMs: work.deadlineMs,
    newId: randomUUID,
    clock,
    logger,
    metrics,
  })
  return {
    ...worked,
    begun: stream.begun,
    async drain(deadlineMs) {
      const drained = await worked.drain(deadlineMs)
      await stream.close()
      return drained
    },
  }
}
