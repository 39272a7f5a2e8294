import type { FastifyInstance } from 'fastify'
import { UNTRACED } from '../../flow/untraced.ts'
import { answerHandshake } from './answer-handshake.ts'
import { bodyBytes } from './body-bytes.ts'
import { decodeCloudEvents } from './decode-cloud-event.ts'
import type { DoorOptions } from './door-options.ts'
import type { Doors } from './doors.ts'
import { type EventAnswer, handleIntent } from './handle-intent.ts'
import { interpretCloudEvent } from './interpret-cloud-event.ts'
import { ignoreMediaType, refuseCompressed, refuseWhileDraining } from './request-guards.ts'
import { traceOfEvent, traceOfRequest } from './request-trace.ts'

/** CloudEvents in every mode. Everything is decoded before anything is done, so that a batch is taken whole or not. */
export function registerEventRoutes(app: FastifyInstance, doors: Doors, options: DoorOptions): void {
  const onRequest = [refuseWhileDraining(doors.draining), refuseCompressed]
  app.post('/events', { onRequest }, async (request, reply) => {
    const { headers: sent } = request
    const decoded = decodeCloudEvents({
      headers: sent,
      rawHeaders: request.raw.rawHeaders,
      body: bodyBytes(request.body),
    })
    const receivedAt = options.clock.now()
    const intents = decoded.events.map((event) => interpretCloudEvent(event, receivedAt))
    const made = decoded.events.flatMap((event) => traceOfEvent(event) ?? [])
    // A broker in between may be in a trace of its own; where the event was made is where it goes on.
    const [parent = traceOfRequest(sent), ...links] = made
    const span = { name: 'events', kind: 'server', parent, links } as const
    const { status, headers, body } = await (options.tracer ?? UNTRACED).begin(span, async () => {
      const answers: EventAnswer[] = []
      for (const intent of intents) answers.push(await handleIntent(intent, doors, options))
      return decoded.mode === 'batch' ? combine(answers) : (answers[0] ?? EMPTY_BATCH)
    })
    return reply.code(status).headers(headers).send(body)
  })

  app.options('/events', { onRequest: [ignoreMediaType] }, async (request, reply) => {
    const { status, headers } = answerHandshake(request.headers)
    return reply.code(status).headers(headers).send()
  })
}

const EMPTY_BATCH: EventAnswer = { status: 202, headers: {} }

/**
 * One answer for a batch: "send it again" if that helps any of its events (the others are harmless to repeat), then
 * "never again" if any failed for good, then 202.
 */
function combine(answers: EventAnswer[]): EventAnswer {
  const again = answers.filter(({ status }) => status === 503)
  const last = again.sort((a, b) => waitOf(b) - waitOf(a))[0]
  return last ?? answers.find(({ status }) => status >= 400) ?? EMPTY_BATCH
}

function waitOf({ headers }: EventAnswer): number {
  return Number(headers['retry-after'] ?? 0)
}
