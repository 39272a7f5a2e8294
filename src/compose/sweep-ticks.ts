import type { EventSender } from '../adapters/cloudevents/event-sender.ts'
import type { OutgoingEvent } from '../adapters/cloudevents/outgoing-event.ts'
import { pause } from '../adapters/kubernetes/pause.ts'
import type { SweepScope } from '../domain/sweep-report.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

export interface SweepTicks {
  everyMs: number
  scope: SweepScope
}

// A sweep answers when it is through, or when its own time is up (`sweep.deadlineMs`, an hour at most).
const SWEEP_TIMEOUT_MS = 3_600_000

/** Asks for a sweep every so often, as Knative's PingSource does, until the signal aborts. One that failed is not made up for. */
export async function tickSweeps(
  { everyMs, scope }: SweepTicks,
  {
    sender,
    source,
    clock,
    logger,
    signal,
  }: { sender: EventSender; source: string; clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<void> {
  for (;;) {
    await pause(clock, everyMs, signal)
    if (signal.aborted) return
    await sweepThrough()
  }

  /** A sweep whose time ran out says where to go on. */
  async function sweepThrough(): Promise<void> {
    let token: string | undefined
    do {
      const delivery = await sender.post(pingEvent(token), { signal, timeoutMs: SWEEP_TIMEOUT_MS })
      token = delivery.kind === 'again' ? continueOf(delivery.body) : undefined
      if (delivery.kind === 'delivered') logger.debug({ scope }, 'sweep done')
      else if (token === undefined && !signal.aborted) logger.warn({ scope, delivery }, 'sweep failed')
    } while (token !== undefined && !signal.aborted)
  }

  function pingEvent(token: string | undefined): OutgoingEvent {
    return {
      id: `sweep.${scope}.${clock.now()}`,
      source,
      type: 'dev.knative.sources.ping',
      extensions: {},
      data: { scope, ...(token === undefined ? {} : { continue: token }) },
    }
  }
}

function continueOf(body: string | undefined): string | undefined {
  try {
    const { continue: token } = JSON.parse(body ?? '{}') as { continue?: unknown }
    return typeof token === 'string' && token !== '' ? token : undefined
  } catch {
    return undefined
  }
}
