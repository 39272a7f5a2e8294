import { createMemoryWorkQueue } from '../adapters/memory/memory-work-queue.ts'
import type { Config } from '../config/config.ts'
import type { WorkedQueue } from '../ports/work-queue.ts'
import { createCloudEventQueue } from './create-cloud-event-queue.ts'
import type { CreateWorkQueue, WorkQueueParts } from './work-queue-parts.ts'

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
      return createCloudEventQueue(parts)
    case 'jetstream':
      if (parts.createJetStream === undefined) throw new TypeError('loadJetStream first')
      return parts.createJetStream(parts)
  }
}
