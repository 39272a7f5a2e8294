import { randomUUID } from 'node:crypto'
import { createCloudEventWorkQueue } from '../adapters/cloudevents/cloud-event-work-queue.ts'
import { createEventSender } from '../adapters/cloudevents/event-sender.ts'
import type { Sink } from '../adapters/cloudevents/read-sink.ts'
import { createJetStreamWorkQueue } from '../adapters/jetstream/jetstream-work-queue.ts'
import { createNatsWorkStream } from '../adapters/jetstream/nats-work-stream.ts'
import { streamNames } from '../adapters/jetstream/stream-names.ts'
import { createMemoryWorkQueue } from '../adapters/memory/memory-work-queue.ts'
import type { Config } from '../config/config.ts'
import { CatalogueError } from '../domain/catalogue-error.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'

export interface WorkQueueParts {
  config: Config
  /** Where work events go, for `queue.kind: cloudevents`. */
  sink?: Sink
  clock: Clock
  logger: Logger
  metrics: Metrics
}

/** The queue that is configured; it lets go of its connections when it is drained. */
export function createWorkQueue(parts: WorkQueueParts): WorkedQueue {
  switch (parts.config.queue.kind) {
    case 'memory':
      return createMemoryWorkQueue({ ...parts.config.queue, ...parts, workDeadlineMs: parts.config.work.deadlineMs })
    case 'cloudevents':
      return cloudEvents(parts)
    case 'jetstream':
      return jetStream(parts)
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

function jetStream({ config, clock, logger, metrics }: WorkQueueParts): WorkedQueue {
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

/** What serves other objects, or another control plane, has work of its own. */
function installationOf({ clusterId, provider }: Config): string {
  return `wcp-${clusterId}-${provider.name}`
}
