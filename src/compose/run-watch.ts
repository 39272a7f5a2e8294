import { createEventOutbox, type EventOutbox } from '../adapters/cloudevents/event-outbox.ts'
import { createEventSender } from '../adapters/cloudevents/event-sender.ts'
import type { Sink } from '../adapters/cloudevents/read-sink.ts'
import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import type { KubernetesSource } from '../adapters/kubernetes/read-kubeconfig.ts'
import { createWatchClient } from '../adapters/kubernetes/watch-client.ts'
import { type WatchOptions, watchKind } from '../adapters/kubernetes/watch-kind.ts'
import type { WatchedResource } from '../adapters/kubernetes/watched-resource.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { changeEvent } from './change-event.ts'
import { jitteredBackoff } from './jittered-backoff.ts'
import { type SweepTicks, tickSweeps } from './sweep-ticks.ts'

export interface RunWatchOptions {
  kubernetes: KubernetesSource
  /** For the head of each answer of the API server. */
  timeoutMs: number
  resources: readonly WatchedResource[]
  sink: Sink
  /** Asks for sweeps too. */
  sweep?: SweepTicks
  /** Resolves when the watch is to stop. */
  stopped: Promise<void>
  /** How long what is due may take to be sent then. */
  drainMs: number
  clock: Clock
  /** 0 ≤ n < 1. */
  random: () => number
  logger: Logger
  tuning?: Partial<WatchTuning>
}

export interface WatchTuning {
  pageSize: number
  timeoutSeconds: number
  marginMs: number
  relistMs: number
  /** Objects whose events are held while the sink does not take them; then the watches wait. */
  capacity: number
  concurrency: number
  sendTimeoutMs: number
  backoff: { firstMs: number; longestMs: number }
}

const TUNING: WatchTuning = {
  pageSize: 500,
  timeoutSeconds: 290,
  marginMs: 20_000,
  relistMs: 3_600_000,
  capacity: 1_000,
  concurrency: 4,
  sendTimeoutMs: 30_000,
  backoff: { firstMs: 200, longestMs: 30_000 },
}

/**
 * Tells the function, by CloudEvents, of every change that no review tells it. Keeps no state: a restart lists again.
 * Answers what became of the events; `left` were not sent in time.
 */
export async function runWatch(options: RunWatchOptions): Promise<{ sent: number; refused: number; left: number }> {
  const { kubernetes, timeoutMs, resources, sink, sweep, stopped, drainMs, clock, random, logger } = options
  const tuning = { ...TUNING, ...options.tuning }
  const backoffMs = jitteredBackoff(tuning.backoff, random)
  const client = createWatchClient(loadKubeConfig(kubernetes), { timeoutMs, clock })
  const sender = createEventSender(sink, { clock, timeoutMs: tuning.sendTimeoutMs })
  const outbox = createEventOutbox({ sender, ...tuning, backoffMs, clock, logger })
  const stop = new AbortController()
  const watching: WatchOptions = {
    client,
    settings: { ...tuning, backoffMs },
    clock,
    random,
    logger,
    signal: stop.signal,
  }
  const source = client.server
  const running = resources.map((resource) => tellAll(resource, source, outbox, watching))
  if (sweep !== undefined) running.push(tickSweeps(sweep, { sender, source, clock, logger, signal: stop.signal }))
  logger.info({ kinds: resources.map(({ kind }) => kind), sink: new URL(sink.url).origin }, 'started')
  try {
    // They end by a fault of ours only.
    await Promise.race([stopped, ...running])
  } finally {
    stop.abort()
    await outbox.drain(drainMs)
    await Promise.allSettled(running)
    await sender.close()
    await client.close()
  }
  const counts = { ...outbox.counts(), left: outbox.size() }
  logger.info(counts, 'stopped')
  return counts
}

async function tellAll(
  resource: WatchedResource,
  source: string,
  outbox: EventOutbox,
  options: WatchOptions,
): Promise<void> {
  for await (const change of watchKind(resource, options)) await outbox.put(changeEvent(change, resource, source))
}
