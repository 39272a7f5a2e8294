import { decodeCloudEvents } from '../../src/adapters/http/decode-cloud-event.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** An event as it travels, in binary mode: names in lower case. */
export interface BrokerEvent {
  headers: Record<string, string>
  body: string
}

export interface SubscriberAnswer {
  status: number
  headers?: Record<string, string>
  body?: string
}

/** A throw is a broken connection. */
export type Subscriber = (event: BrokerEvent) => Promise<SubscriberAnswer>

/** A Trigger's `spec.delivery`, and which of the two sets of retried answers applies. */
export interface DeliverySpec {
  /** Attempts after the first. */
  retry: number
  backoffPolicy: 'linear' | 'exponential'
  backoffDelayMs: number
  timeoutMs: number
  /** `retryAfterMax`, which is off unless asked for: the longest Retry-After that is kept. */
  retryAfterMaxMs?: number
  retriedBy: 'broker' | 'source'
}

/** Knative's default: ten times, from 0.2 s, doubling. */
export const BROKER_DEFAULTS: DeliverySpec = {
  retry: 10,
  backoffPolicy: 'exponential',
  backoffDelayMs: 200,
  timeoutMs: 30_000,
  retriedBy: 'broker',
}

/** The delivery contract of a Knative Broker with one Trigger (protocols §2.4), in memory. */
export interface StandInBroker {
  /** Stores an event; undefined while it is down. */
  receive(event: BrokerEvent): SubscriberAnswer | undefined
  deadLetters: BrokerEvent[]
  /** Events that the subscriber answered with; a real broker takes them for new ones. */
  replies: BrokerEvent[]
  /** Events that are neither done nor dead. */
  size(): number
  /** Attempts so far. */
  attempts(): number
  /** Each event that comes now is delivered so often, at least. */
  deliverEach(times: number): void
  /** Attempts under way are cut off; what was stored is kept, unless it was kept in memory. */
  down(): void
  up(): void
}

export function createStandInBroker(options: {
  subscriber: Subscriber
  delivery: DeliverySpec
  /** For an InMemoryChannel: false. */
  durable?: boolean
  clock: Clock
}): StandInBroker {
  const { subscriber, delivery, durable = true, clock } = options
  const held = new Set<Held>()
  const broker = { deadLetters: [] as BrokerEvent[], replies: [] as BrokerEvent[] }
  let isDown = false
  let times = 1
  let attempts = 0
  /** Changes with each stop: what was begun before it comes to nothing. */
  let era = 0

  async function deliver(entry: Held): Promise<void> {
    const begun = era
    attempts += 1
    const result = await attempt(entry.event)
    if (begun !== era || !held.has(entry)) return
    if (result.kind === 'done') {
      if (result.reply !== undefined) broker.replies.push(result.reply)
      held.delete(entry)
      return
    }
    entry.failures += 1
    const isLast = entry.failures > delivery.retry
    if (!isLast && isRetried(result.status, delivery.retriedBy)) schedule(entry, pauseAfter(entry.failures, result))
    else {
      held.delete(entry)
      broker.deadLetters.push(deadLetter(entry.event, result))
    }
  }

  function schedule(entry: Held, ms: number): void {
    const begun = era
    clock.after(ms, () => {
      if (begun === era) void deliver(entry)
    })
  }

  async function attempt(event: BrokerEvent): Promise<Result> {
    const sent = { ...event, headers: { ...event.headers, prefer: 'reply', 'kn-namespace': 'default' } }
    let cancel = () => {}
    const late = new Promise<undefined>((resolve) => {
      cancel = clock.after(delivery.timeoutMs, () => resolve(undefined))
    })
    const answer = await Promise.race([subscriber(sent).catch(() => undefined), late])
    cancel()
    return judge(answer)
  }

  function pauseAfter(failures: number, { retryAfterMs }: Failed): number {
    const { backoffPolicy, backoffDelayMs, retryAfterMaxMs = 0 } = delivery
    const own = backoffDelayMs * (backoffPolicy === 'linear' ? failures : 2 ** failures)
    return Math.max(own, Math.min(retryAfterMs, retryAfterMaxMs))
  }

  return {
    ...broker,
    receive(event) {
      if (isDown) return undefined
      if (!isCloudEvent(event)) return { status: 400 }
      for (let copy = 0; copy < times; copy += 1) {
        const entry = { event, failures: 0 }
        held.add(entry)
        schedule(entry, 0)
      }
      return { status: 202 }
    },
    size: () => held.size,
    attempts: () => attempts,
    deliverEach(count) {
      times = count
    },
    down() {
      isDown = true
      era += 1
      if (!durable) held.clear()
    },
    up() {
      isDown = false
      era += 1
      for (const entry of held) schedule(entry, 0)
    },
  }
}

interface Held {
  event: BrokerEvent
  failures: number
}

type Result = { kind: 'done'; reply: BrokerEvent | undefined } | Failed

interface Failed {
  kind: 'failed'
  /** 0: no answer. */
  status: number
  body: string
  retryAfterMs: number
}

/** A 2xx whose body is no CloudEvent is a fault of the subscriber's, answered by the filter with 502. */
function judge(answer: SubscriberAnswer | undefined): Result {
  const { status = 0, headers = {}, body = '' } = answer ?? {}
  if (status >= 200 && status < 300) {
    const reply = { headers, body }
    const isEmpty = body === '' && headers['ce-id'] === undefined
    if (isEmpty) return { kind: 'done', reply: undefined }
    if (isCloudEvent(reply)) return { kind: 'done', reply }
    return { kind: 'failed', status: 502, body, retryAfterMs: 0 }
  }
  return { kind: 'failed', status, body, retryAfterMs: Number(headers['retry-after'] ?? 0) * 1_000 }
}

/**
 * | status | broker | source |
 * |---|---|---|
 * | no answer, 404, 429, 502, 503, 504 | yes | yes |
 * | 408, 409, 500, other 5xx | yes | no |
 * | 413, 425 | no | yes |
 * | other 3xx and 4xx | no | no |
 */
function isRetried(status: number, by: DeliverySpec['retriedBy']): boolean {
  if ([0, 404, 429, 502, 503, 504].includes(status)) return true
  return by === 'source' ? [413, 425].includes(status) : [408, 409].includes(status) || status >= 500
}

function deadLetter(event: BrokerEvent, { status, body }: Failed): BrokerEvent {
  const why = {
    'ce-knativeerrordest': 'http://subscriber.example/events',
    'ce-knativeerrorcode': String(status),
    'ce-knativeerrordata': Buffer.from(body.slice(0, 1_024)).toString('base64'),
  }
  return { ...event, headers: { ...event.headers, ...why } }
}

function isCloudEvent({ headers, body }: BrokerEvent): boolean {
  try {
    decodeCloudEvents({ headers, rawHeaders: Object.entries(headers).flat(), body: Buffer.from(body) })
    return true
  } catch {
    return false
  }
}
