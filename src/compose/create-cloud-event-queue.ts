import { randomUUID } from 'node:crypto'
import { createCloudEventWorkQueue } from '../adapters/cloudevents/cloud-event-work-queue.ts'
import { createEventSender } from '../adapters/cloudevents/event-sender.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import { installationOf, type WorkQueueParts } from './work-queue-parts.ts'

/** The queue behind a sink, which brings the work to the events door. */
export function createCloudEventQueue({ config, sink, clock, logger, metrics }: WorkQueueParts): WorkedQueue {
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
