import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { firstToken } from '../../domain/first-token.ts'
import type { Clock } from '../../ports/clock.ts'
import { encodeCloudEvent } from './encode-cloud-event.ts'
import type { OutgoingEvent } from './outgoing-event.ts'
import type { Sink } from './read-sink.ts'

/** What became of one attempt. */
export type Delivery =
  | { kind: 'delivered' }
  /** The sink will never take this event. */
  | { kind: 'refused'; status: number }
  /** Try again; `whole`: it is the sink that fails, and not this event. */
  | { kind: 'again'; reason: string; whole: boolean; afterMs?: number; body?: string }

export interface EventSender {
  /** One attempt. Never throws: what stands in the way is part of the answer. */
  post(event: OutgoingEvent, options: { signal: AbortSignal; timeoutMs?: number }): Promise<Delivery>
  close(): Promise<void>
}

/** Sends CloudEvents over HTTP in binary mode, on kept connections. `timeoutMs` is for a whole attempt. */
export function createEventSender(
  sink: Sink,
  { clock, timeoutMs: usualTimeoutMs }: { clock: Clock; timeoutMs: number },
): EventSender {
  const { Agent, request } = sink.url.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, ...(sink.ca && { ca: sink.ca }) })
  return {
    async post(event, { signal, timeoutMs = usualTimeoutMs }) {
      const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      try {
        const { headers, body } = encodeCloudEvent(event, sink.extensions)
        const credentials = await authorization(sink)
        const sent = request(sink.url, {
          method: 'POST',
          headers: { ...headers, ...credentials },
          agent,
          signal: until,
        })
        return deliveryOf(await answerTo(sent, body), clock.now())
      } catch (error) {
        return { kind: 'again', reason: reasonOf(until.aborted ? until.reason : error, sink), whole: true }
      }
    },
    close: async () => agent.destroy(),
  }
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

function answerTo(request: http.ClientRequest, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      const { statusCode: status = 0, headers } = response
      firstOf(response).then((text) => resolve({ status, headers, body: text }), reject)
    })
    request.end(body)
  })
}

async function authorization({ tokenFile }: Sink): Promise<Record<string, string>> {
  if (tokenFile === undefined) return {}
  const { readFile } = await import('node:fs/promises')
  try {
    // The receiver's own file may have several, for rotation.
    return { authorization: `Bearer ${firstToken(await readFile(tokenFile, 'utf8'))}` }
  } catch (error) {
    throw new TokenUnreadable(`the token file ${tokenFile} cannot be read (${codeOf(error)})`)
  }
}

class TokenUnreadable extends Error {}

/** Sent again these would be answered the same (protocols §2.4; 422 and 413 are ours). */
const NEVER_AGAIN = [400, 403, 413, 415, 422]
/** Of the sink as a whole, or of what stands before it. */
const SINK_FAILS = [401, 404, 429, 502, 503, 504]

function deliveryOf({ status, headers, body }: Answer, now: number): Delivery {
  if (status >= 200 && status < 300) return { kind: 'delivered' }
  if (NEVER_AGAIN.includes(status)) return { kind: 'refused', status }
  const afterMs = retryAfterMs(headers['retry-after'], now)
  return {
    kind: 'again',
    reason: `HTTP ${status}`,
    whole: SINK_FAILS.includes(status),
    ...(afterMs === undefined ? {} : { afterMs }),
    ...(body === '' ? {} : { body }),
  }
}

const LONGEST_WAIT_MS = 300_000

/** Seconds, or a date; what a mistaken clock somewhere may make of it is cut. */
function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_WAIT_MS, Math.max(0, ms))
}

const MOST_OF_AN_ANSWER = 64 * 1024

/** Read to its end, so that the connection is kept; of a long answer the rest is let go. */
async function firstOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (size < MOST_OF_AN_ANSWER) chunks.push(chunk)
    size += chunk.length
  }
  return Buffer.concat(chunks).toString()
}

/** Of a certificate that nobody we trust has signed. */
const NOT_TRUSTED = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]

/** Names the host, whose path may be a secret; never the message, which may hold the URL. */
function reasonOf(error: unknown, { url }: Sink): string {
  if (error instanceof TokenUnreadable) return error.message
  const { host } = new URL(url)
  const code = codeOf(error)
  if (!NOT_TRUSTED.includes(code)) return `${host}: ${code}`
  return `${host}: its certificate is signed by no authority that we know (${code}): give its authority in K_CA_CERTS or in a file`
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
