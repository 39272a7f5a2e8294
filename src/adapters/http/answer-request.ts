import type { FastifyInstance } from 'fastify'
import { inject } from 'light-my-request'
import type { PlatformAnswer, PlatformRequest } from '../../ports/platform-request.ts'

/** Of one connection or one framing of the body, and both end at the platform. */
const FRAMING = ['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'date']

/**
 * Answers a request that came over no connection of ours, through the same routes and guards as one that did. The URL is
 * taken as it stands: a parser would resolve `..` first and let paths reach a door that over a connection do not. The app
 * must be ready.
 */
export async function answerRequest(app: FastifyInstance, request: PlatformRequest): Promise<PlatformAnswer> {
  const { method, url, body, remoteAddress } = request
  const response = await inject(
    (message, reply) => {
      Object.assign(message, { method: method.toUpperCase(), url })
      app.routing(message as never, reply as never)
    },
    {
      method: 'POST',
      url: '/',
      headers: headersOf(request),
      ...(remoteAddress === undefined ? {} : { remoteAddress }),
      ...(body.length === 0 ? {} : { payload: Buffer.from(body) }),
    },
  )
  return { status: response.statusCode, headers: answerHeaders(response.headers), body: response.rawPayload }
}

function headersOf({ headers }: PlatformRequest): Record<string, string | string[]> {
  const known: Record<string, string | string[]> = { 'user-agent': '' }
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (value === undefined || FRAMING.includes(lower)) continue
    known[lower] = typeof value === 'string' ? value : [...value]
  }
  return known
}

function answerHeaders(headers: Record<string, unknown>): PlatformAnswer['headers'] {
  const sent = Object.entries(headers).filter(([name, value]) => value !== undefined && !FRAMING.includes(name))
  return Object.fromEntries(sent.map(([name, value]) => [name, Array.isArray(value) ? value.map(String) : `${value}`]))
}
