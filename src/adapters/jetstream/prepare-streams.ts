import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import type { StreamNames } from './stream-names.ts'

export interface StreamSettings {
  names: StreamNames
  /** Keys held at most. */
  capacity: number
  /** Copies of the stream in a cluster of servers. */
  replicas: number
  ackWaitMs: number
}

type Manager = Awaited<ReturnType<typeof jetstreamManager>>

/** The one consumer that all instances pull from. */
export const CONSUMER = 'workers'

const DUPLICATES_MS = 120_000
const DEAD_LETTERS_KEPT_MS = 7 * 86_400_000
const DEAD_LETTERS_KEPT = 10_000

/** Makes streams and consumer, or brings them to these settings. */
export async function prepareStreams(manager: Manager, settings: StreamSettings): Promise<void> {
  const { names, capacity, replicas, ackWaitMs } = settings
  await ensureStream(manager, {
    name: names.workStream,
    subjects: [`${names.workSubjects}.>`],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    num_replicas: replicas,
    // The latest state of each key and no other; a new key is refused when there are too many.
    max_msgs_per_subject: 1,
    max_msgs: capacity,
    discard: DiscardPolicy.New,
    duplicate_window: nanos(DUPLICATES_MS),
  })
  await ensureStream(manager, {
    name: names.deadStream,
    subjects: [`${names.deadSubjects}.>`],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    max_msgs: DEAD_LETTERS_KEPT,
    max_age: nanos(DEAD_LETTERS_KEPT_MS),
    discard: DiscardPolicy.Old,
  })
  await manager.consumers.add(names.workStream, {
    durable_name: CONSUMER,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    // What waits for its time counts as handed out, so there is no limit; how often is counted by the worker.
    max_ack_pending: -1,
    max_deliver: -1,
  })
}

const OTHER_SETTINGS = 10_058

async function ensureStream(manager: Manager, config: Partial<StreamConfig> & { name: string }): Promise<void> {
  try {
    await manager.streams.add(config)
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== OTHER_SETTINGS) throw error
    await manager.streams.update(config.name, config)
  }
}
