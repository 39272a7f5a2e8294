import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Delivery, EventSender } from './event-sender.ts'
import { addPending, type ObjectEvent } from './pending-events.ts'

export interface EventOutbox {
  /** Resolves once the event is held here; with `capacity` other keys held, when one of them is done. */
  put(event: ObjectEvent): Promise<void>
  /** Keys that are held. */
  size(): number
  /** Sends what is held, with hardly a pause between attempts, for at most `ms`; then gives up. */
  drain(ms: number): Promise<void>
  /** Events that the sink took, and those it refused for good. */
  counts(): { sent: number; refused: number }
}

export interface OutboxOptions {
  sender: EventSender
  /** Keys held at a time, each with two events at most. */
  capacity: number
  /** Requests at a time; one while the sink fails. */
  concurrency: number
  backoffMs: (failures: number) => number
  clock: Clock
  logger: Logger
}

// Between attempts while there is little time left.
const HURRY_MS = 200

/** Of one key. It is in exactly one place: being sent, ready to be, or waiting for its next attempt. */
interface Lane {
  pending: ObjectEvent[]
  failures: number
  cancelWait: (() => void) | undefined
}

/**
 * Holds events until the sink took them, and tries as long as that takes. The events of a key stay in order; while they
 * wait, the latest takes the place of the earlier ones. When the sink as a whole fails, one event at a time finds out
 * when it is back.
 */
export function createEventOutbox({
  sender,
  capacity,
  concurrency,
  backoffMs,
  clock,
  logger,
}: OutboxOptions): EventOutbox {
  const lanes = new Map<string, Lane>()
  const ready = new Set<string>()
  const waitingForRoom: (() => void)[] = []
  const stopped = new AbortController()
  const counts = { sent: 0, refused: 0 }
  let sending = 0
  let draining = false
  /** Failures of the sink in a row. */
  let outage = 0
  let rest: (() => void) | undefined
  let onEmpty = () => {}

  function pump(): void {
    while (rest === undefined && !stopped.signal.aborted && sending < (outage > 0 ? 1 : concurrency)) {
      const [key] = ready
      if (key === undefined) return
      ready.delete(key)
      const lane = lanes.get(key)
      if (lane === undefined) continue
      sending += 1
      void send(key, lane).then(() => {
        sending -= 1
        pump()
      })
    }
  }

  async function send(key: string, lane: Lane): Promise<void> {
    const [event, ...later] = lane.pending
    if (event === undefined) return
    lane.pending = later
    const delivery = await sender.post(event.event, { signal: stopped.signal })
    if (stopped.signal.aborted && delivery.kind === 'again') {
      lane.pending = [event, ...lane.pending]
      return
    }
    if (delivery.kind === 'again') return tryAgain(key, lane, event, delivery)
    count(event, delivery)
    lane.failures = 0
    if (lane.pending.length > 0) ready.add(key)
    else forget(key)
    sinkAnswers()
  }

  function count({ event }: ObjectEvent, delivery: Exclude<Delivery, { kind: 'again' }>): void {
    if (delivery.kind === 'delivered') {
      counts.sent += 1
      return
    }
    counts.refused += 1
    logger.error({ event: event.id, subject: event.subject, status: delivery.status }, 'event refused and dropped')
  }

  function tryAgain(key: string, lane: Lane, event: ObjectEvent, delivery: Extract<Delivery, { kind: 'again' }>): void {
    // What came meanwhile came later.
    lane.pending = lane.pending.reduce(addPending, [event])
    lane.failures += 1
    const afterMs = Math.max(delivery.afterMs ?? 0, backoffMs(lane.failures))
    if (delivery.whole) sinkFails(delivery)
    else
      logger.warn({ event: event.event.id, reason: delivery.reason, failures: lane.failures, afterMs }, 'event failed')
    lane.cancelWait = clock.after(draining ? HURRY_MS : afterMs, () => {
      lane.cancelWait = undefined
      ready.add(key)
      pump()
    })
  }

  function sinkFails({ reason, afterMs = 0 }: { reason: string; afterMs?: number }): void {
    // Of several requests at a time the first says it.
    if (rest !== undefined) return
    outage += 1
    if (outage === 1) logger.warn({ reason, held: lanes.size }, 'the sink does not take events')
    rest = clock.after(draining ? HURRY_MS : Math.max(afterMs, backoffMs(outage)), () => {
      rest = undefined
      pump()
    })
  }

  /** An answer to a request that was on its way before the sink asked for a rest proves nothing. */
  function sinkAnswers(): void {
    if (outage === 0 || rest !== undefined) return
    logger.info({ attempts: outage, held: lanes.size }, 'the sink takes events again')
    outage = 0
    attemptAllNow()
  }

  function forget(key: string): void {
    lanes.delete(key)
    if (lanes.size === 0) onEmpty()
    waitingForRoom.shift()?.()
  }

  async function put(event: ObjectEvent): Promise<void> {
    while (!lanes.has(event.key) && lanes.size >= capacity && !stopped.signal.aborted) {
      await new Promise<void>((resolve) => waitingForRoom.push(resolve))
    }
    const lane = lanes.get(event.key)
    if (lane !== undefined) {
      lane.pending = addPending(lane.pending, event)
      return
    }
    lanes.set(event.key, { pending: [event], failures: 0, cancelWait: undefined })
    ready.add(event.key)
    pump()
  }

  function attemptAllNow(): void {
    rest?.()
    rest = undefined
    for (const [key, lane] of lanes) {
      if (lane.cancelWait === undefined) continue
      lane.cancelWait()
      lane.cancelWait = undefined
      ready.add(key)
    }
    pump()
  }

  return {
    put,
    size: () => lanes.size,
    async drain(ms) {
      draining = true
      attemptAllNow()
      if (lanes.size > 0) await emptyOrLate(ms)
      stopped.abort()
      for (const lane of lanes.values()) lane.cancelWait?.()
      rest?.()
      for (const release of waitingForRoom.splice(0)) release()
    },
    counts: () => ({ ...counts }),
  }

  function emptyOrLate(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve)
      onEmpty = () => {
        cancel()
        resolve()
      }
    })
  }
}
