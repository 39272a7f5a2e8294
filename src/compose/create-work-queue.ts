import { randomUUID } from 'node:crypto'
import { createCloudEventWorkQueue } from '../adapters/cloudevents/cloud-event-work-queue.ts'
import { createEventSender } from '../adapters/cloudevents/event-sender.ts'
import { createMemoryWorkQueue } from '../adapters/memory/memory-work-queue.ts'
import type { Config } from '../config/config.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import { type CreateWorkQueue, installationOf, type WorkQueueParts } from './work-queue-parts.ts'

/** The code of JetStream, where that is the queue; nobody else pays for it. */
export async function loadJetStream({ queue }: Config): Promise<{ createJetStream?: CreateWorkQueue }> {
  if (queue.kind !== 'jetstream') return {}
  const { createJetStream } = await import('./create-jet-stream.ts')
  return { createJetStream }
}

/** The queue that is configured; it lets go of its connections when it is drained. */
export function createWorkQueue(parts: WorkQueueParts): WorkedQueue {
  switch (parts.config.queue.kind) {
    case 'memory':
      return createMemoryWorkQueue({ ...parts.config.queue, ...parts, workDeadlineMs: parts.config.work.deadlineMs })
    case 'cloudevents':
      return cloudEvents(parts)
    case 'jetstream':
      if (parts.createJetStream === undefined) throw new TypeError('loadJetStream first')
      return parts.createJetStream(parts)
  }
}

function cloudEvents({ config, sink, clock, logger, metrics }: WorkQueueParts): WorkedQueue {
  if (sink === undefined) throw new CatalogueError('ConfigurationInvalid', 'queue.sink: the sink is not given')
  const { timeoutMs } = config.queue
  return createCloudEventWorkQueue({
    sender: createEventSender(sink, { clock, timeoutMs }),
    source: `/${installationOf(config)}`,
    timeoutMs,
    newId: randomUUID,
    clock,
    logger,
    metrics,
  })
}
