import type { Clock } from '../../ports/clock.ts'
import type { AdmissionReview } from './admission-review.ts'
import { mediaTypeFault } from './media-type-fault.ts'
import type { Webhook } from './webhook.ts'

export interface WebhookAnswer {
  status: number
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
}

/** Makes one HTTPS POST; rejects when there is no answer. `caBundle` is PEM, or empty for the system's roots. */
export type CallWebhook = (
  url: string,
  caBundle: string,
  review: AdmissionReview,
  timeoutMs: number,
) => Promise<WebhookAnswer>

const MOST_RETRIES = 10

/**
 * One question to one webhook: at most `timeoutMs` in all, asked again with the same uid as long as the answer is
 * 429 or 5xx with a `Retry-After` in seconds (protocols §0.2). Throws for everything that is no 2xx.
 */
export async function askWebhook(
  webhook: Webhook,
  review: AdmissionReview,
  timeoutMs: number,
  clock: Clock,
  callWebhook: CallWebhook,
): Promise<string> {
  const end = clock.now() + timeoutMs
  const url = `${webhook.url}?timeout=${Math.ceil(timeoutMs / 1000)}s`
  const timedOut = () => new Error(`failed to call webhook: Post "${url}": context deadline exceeded`)

  for (let retries = 0; ; retries++) {
    const answer = await within(clock, end - clock.now(), timedOut, () => call(url))
    if (answer.status >= 200 && answer.status <= 206) {
      const fault = mediaTypeFault(answer.headers['content-type'] ?? '')
      if (fault !== undefined) throw new Error(`failed to call webhook: Internal error occurred: ${fault}`)
      if (answer.body === '') throw new Error(`failed to call webhook: ${emptyAnswer(answer)}`)
      return answer.body
    }
    const seconds = retryAfter(answer)
    if (seconds === undefined || retries === MOST_RETRIES) throw new Error(`failed to call webhook: ${refusal(answer)}`)
    if (clock.now() + seconds * 1000 >= end) {
      await pause(clock, end - clock.now())
      throw timedOut()
    }
    await pause(clock, seconds * 1000)
  }

  async function call(target: string): Promise<WebhookAnswer> {
    try {
      return await callWebhook(target, webhook.caBundle, review, end - clock.now())
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`failed to call webhook: Post "${target}": ${why}`, { cause: error })
    }
  }
}

function emptyAnswer({ status, headers }: WebhookAnswer): string {
  return `0-length response with status code: ${status} and content type: ${headers['content-type'] ?? ''}`
}

function retryAfter({ status, headers }: WebhookAnswer): number | undefined {
  const seconds = headers['retry-after']
  const canRetry = status === 429 || status >= 500
  return canRetry && seconds !== undefined && /^\d+$/.test(seconds) ? Number(seconds) : undefined
}

/** How the API server's client words an answer that is no success. */
function refusal({ status, body }: WebhookAnswer): string {
  if (status === 404) return 'the server could not find the requested resource'
  if (status === 400) return 'the server rejected our request for an unknown reason'
  if (status === 401) return 'the server has asked for the client to provide credentials'
  if (status === 403) return 'forbidden'
  if (status === 503) return 'the server is currently unable to handle the request'
  if (status >= 500) return `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`
  return `the server responded with the status code ${status} but did not return more information`
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(Math.max(0, ms), resolve)
  })
}

async function within<T>(clock: Clock, ms: number, late: () => Error, action: () => Promise<T>): Promise<T> {
  let cancel = () => {}
  const timeout = new Promise<never>((_, reject) => {
    cancel = clock.after(Math.max(0, ms), () => reject(late()))
  })
  try {
    return await Promise.race([action(), timeout])
  } finally {
    cancel()
  }
}
