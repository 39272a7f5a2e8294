import { badRequest } from './bad-request.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A DNS name as the webhook specification wants it, with an optional port; printable, so that it can be echoed. */
const ORIGIN = /^[A-Za-z0-9._~:-]{1,253}$/
const RATE = /^[1-9][0-9]{0,8}$/

/**
 * Abuse protection (CloudEvents http-webhook.md §4): a sender asks whether it may deliver here. We consent to whoever can
 * reach the door; credentials guard it. Only the headers are consent, never the status. `WebHook-Request-Callback` is
 * never called: the answer is given at once, and calling addresses that strangers name is a hole.
 */
export function answerHandshake(headers: Headers): { status: number; headers: Record<string, string> } {
  const origin = headers['webhook-request-origin']
  if (origin === undefined) return { status: 200, headers: { allow: 'POST, OPTIONS' } }
  if (typeof origin !== 'string' || !ORIGIN.test(origin)) {
    throw badRequest('WebHook-Request-Origin', 'must be a DNS name', { value: origin })
  }
  const rate = headers['webhook-request-rate']
  if (rate !== undefined && (typeof rate !== 'string' || !RATE.test(rate))) {
    throw badRequest('WebHook-Request-Rate', 'must be a number of requests per minute', { value: rate })
  }
  const consent = { allow: 'POST', 'webhook-allowed-origin': origin }
  return { status: 200, headers: rate === undefined ? consent : { ...consent, 'webhook-allowed-rate': rate } }
}
