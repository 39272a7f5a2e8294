import { createSystemClock } from '../../../src/adapters/system/system-clock.ts'
import type { ApiClient } from '../../contracts/kubernetes-api/api-client.ts'
import { mustBe } from '../../contracts/kubernetes-api/bench.ts'
import { serveBroker } from '../../support/broker-server.ts'
import { type BrokerEvent, createStandInBroker } from '../../support/stand-in-broker.ts'

export interface TriggerBroker {
  /** As `K_SINK` names it. */
  url: string
  /** Their types. */
  deadLetters(): string[]
  close(): Promise<void>
}

/** A Broker that delivers as this Trigger says, to the port at which its subscriber listens here. */
export async function startTriggerBroker(admin: ApiClient, trigger: string, port: number): Promise<TriggerBroker> {
  const { spec } = await mustBe(200, admin.get(trigger))
  const { subscriber, delivery } = spec as unknown as TriggerSpec
  const broker = createStandInBroker({
    subscriber: async ({ headers, body }: BrokerEvent) => {
      const passedOn = Object.entries(headers).filter(([name]) => name.startsWith('ce-') || name === 'content-type')
      const answer = await fetch(`http://127.0.0.1:${port}${subscriber.uri}`, {
        method: 'POST',
        headers: Object.fromEntries(passedOn),
        body,
      })
      return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
    },
    delivery: {
      retry: delivery.retry,
      backoffPolicy: delivery.backoffPolicy,
      backoffDelayMs: secondsOf(delivery.backoffDelay) * 1_000,
      timeoutMs: secondsOf(delivery.timeout) * 1_000,
      retriedBy: 'broker',
    },
    clock: createSystemClock(),
  })
  const server = await serveBroker(broker)
  return {
    url: server.url,
    deadLetters: () => broker.deadLetters.map(({ headers }) => headers['ce-type'] ?? ''),
    close: () => server.down(),
  }
}

interface TriggerSpec {
  subscriber: { uri: string }
  delivery: { retry: number; backoffPolicy: 'linear' | 'exponential'; backoffDelay: string; timeout: string }
}

/** Of `PT80S`. */
function secondsOf(duration: string): number {
  const [, seconds] = /^PT([\d.]+)S$/.exec(duration) ?? []
  if (seconds === undefined) throw new TypeError(`${duration} is not in seconds`)
  return Number(seconds)
}
