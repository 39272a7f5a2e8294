import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import { QUEUE_METRICS } from '../../flow/queue-metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { WorkedQueue } from '../../ports/work-queue.ts'
import type { Delivery, EventSender } from './event-sender.ts'
import type { OutgoingEvent } from './outgoing-event.ts'
import { createSinkCircuit } from './sink-circuit.ts'
import { workEvent } from './work-event.ts'

export interface CloudEventWorkQueueOptions {
  sender: EventSender
  /** Names this installation, as a URI-reference. */
  source: string
  /** For one attempt. A review waits for it, so it is short. */
  timeoutMs: number
  /** Unlike every other that ever was. */
  newId: () => string
  clock: Clock
  logger: Logger
  metrics: Metrics
}

// Twice more, soon: behind a review there is no time for a third.
const PAUSES_MS = [50, 200]
// Brokers give up after minutes; what comes too early is sent back with the rest of its time.
const LONGEST_DELAY_MS = 60_000

/**
 * Sends each item as a work event to a durable sink, which brings it to our events door. The sink decides when a failed
 * pass is repeated; it merges nothing, and the lock keeps two passes of a key apart. While the sink fails, items are
 * refused at once, and the sweep finds them.
 */
export function createCloudEventWorkQueue(options: CloudEventWorkQueueOptions): WorkedQueue {
  const { sender, source, timeoutMs, newId, clock, logger, metrics } = options
  const gone = new AbortController()
  const sending = new Set<Promise<void>>()
  let reason = ''
  const circuit = createSinkCircuit(clock, (isOpen) => {
    if (isOpen) logger.warn({ reason }, 'the sink does not take work; the sweep finds it')
    else logger.info({}, 'the sink takes work again')
  })

  async function add(item: WorkItem, { afterMs = 0 }: { afterMs?: number } = {}): Promise<void> {
    const dueAt = dueAtOf(item, afterMs)
    const sent = send(workEvent(item, { id: newId(), source, ...(dueAt === undefined ? {} : { dueAt }) }))
    sending.add(sent)
    try {
      await sent
    } finally {
      sending.delete(sent)
    }
    metrics.count(QUEUE_METRICS.adds.name, { name: 'cloudevents' })
  }

  /** What is waited for says itself how long. */
  function dueAtOf({ hints }: WorkItem, afterMs: number): number | undefined {
    const delay = Number.isFinite(afterMs) ? Math.min(afterMs, LONGEST_DELAY_MS) : LONGEST_DELAY_MS
    return delay <= 0 || hints.length > 0 ? undefined : clock.now() + delay
  }

  /** Under one id, so that what was taken and not answered is recognisable. */
  async function send(event: OutgoingEvent): Promise<void> {
    for (const pauseMs of [...PAUSES_MS, undefined]) {
      refuseWhileOpen()
      const delivery = await sender.post(event, { signal: gone.signal, timeoutMs })
      if (delivery.kind === 'delivered') return circuit.succeeded()
      const isLast = pauseMs === undefined || delivery.kind === 'refused' || delivery.afterMs !== undefined
      if (isLast) throw notTaken(event, delivery)
      await new Promise<void>((resolve) => void clock.after(pauseMs, resolve))
    }
  }

  function refuseWhileOpen(): void {
    const afterMs = circuit.closedIn()
    if (afterMs > 0) {
      throw new CatalogueError('QueueUnreachable', `the sink does not take work at present (${reason})`, { afterMs })
    }
  }

  function notTaken(event: OutgoingEvent, delivery: Exclude<Delivery, { kind: 'delivered' }>): CatalogueError {
    if (delivery.kind === 'refused') {
      // Usually a wrong address or a filter in between: somebody has to look.
      logger.error({ event: event.id, subject: event.subject, status: delivery.status }, 'the sink refuses work events')
      return new CatalogueError('QueueUnreachable', `the sink refused it (HTTP ${delivery.status})`, { afterMs: 1_000 })
    }
    reason = delivery.reason
    if (delivery.whole) circuit.failed(delivery.afterMs)
    const afterMs = Math.max(1_000, delivery.afterMs ?? 0, circuit.closedIn())
    return new CatalogueError('QueueUnreachable', `the sink did not take it (${reason})`, { afterMs })
  }

  return {
    add,
    // The sink brings the work to the events door.
    start() {},
    async drain(deadlineMs) {
      const over = new Promise<void>((resolve) => void clock.after(deadlineMs, resolve))
      await Promise.race([Promise.allSettled(sending), over])
      gone.abort()
      await sender.close()
      return { left: sending.size }
    },
    size: () => sending.size,
    // What waits is with the sink.
    waiting: () => ({ keys: 0 }),
  }
}
