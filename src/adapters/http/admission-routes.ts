import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { AdmissionRequest } from '../../domain/admission-request.ts'
import { isCatalogueError } from '../../domain/catalogue-error.ts'
import { type Door, doorNote } from '../../domain/doctor/door-note.ts'
import { kindOf } from '../../domain/kinds.ts'
import { traceIdOf } from '../../domain/trace-context.ts'
import { UNTRACED } from '../../flow/untraced.ts'
import { admissionEvent } from './admission-event.ts'
import { bodyBytes } from './body-bytes.ts'
import { decodeAdmissionReview } from './decode-admission-review.ts'
import { DOOR_METRICS } from './door-metrics.ts'
import type { DoorOptions } from './door-options.ts'
import type { Doors } from './doors.ts'
import { type AdmissionReviewAnswer, allowed, denied, patched, withWarning } from './encode-admission-review.ts'
import { excerpt } from './excerpt.ts'
import { parseJson } from './parse-json.ts'
import { refuseCompressed, refuseWhileDraining, requireJson } from './request-guards.ts'
import { traceOfRequest } from './request-trace.ts'

/** What stands behind them; a door that is not there has no route. */
export type AdmissionDoors = Pick<Doors, 'draining'> & Partial<Pick<Doors, 'mutate' | 'validate' | 'acceptEvent'>>

type AdmissionOptions = Pick<DoorOptions, 'clock' | 'logger' | 'metrics' | 'tracer'>

type Judgement = { answer: AdmissionReviewAnswer; result: string }
type Judge = (request: AdmissionRequest) => Judgement | Promise<Judgement>

/**
 * The three doors of the API server. Each answers 200 with a review, or 400 to what is none; only while draining 503, so
 * that it asks again elsewhere. A door that fails says 500: then the registration's failurePolicy decides, not we.
 */
export function registerAdmissionRoutes(app: FastifyInstance, doors: AdmissionDoors, options: AdmissionOptions): void {
  const { mutate, validate, acceptEvent } = doors
  const judges: Partial<Record<Door, Judge>> = {
    ...(mutate && { mutate: (request) => judgeMutate(mutate, request) }),
    ...(validate && { validate: (request) => judgeValidate(validate, request) }),
    ...(acceptEvent && { notify: (request) => judgeNotify(acceptEvent, options, request) }),
  }
  const onRequest = [refuseWhileDraining(doors.draining), refuseCompressed, requireJson]
  for (const [door, judge] of Object.entries(judges) as [Door, Judge][]) {
    app.post(`/admission/${door}`, { onRequest }, async (request: FastifyRequest, reply: FastifyReply) => {
      const started = options.clock.now()
      const span = { name: `admission ${door}`, kind: 'server', parent: traceOfRequest(request.headers) } as const
      const answer = await (options.tracer ?? UNTRACED).begin(span, async ({ set }) => {
        const review = decodeAdmissionReview(parseJson(bodyBytes(request.body)))
        const judgement = await judge(review)
        set({ result: judgement.result, operation: review.operation })
        report(door, review, judgement.result, started, options)
        const note = doorNote(door, review)
        return note === undefined ? judgement.answer : withWarning(judgement.answer, note)
      })
      reply.header('cache-control', 'no-store')
      return answer
    })
  }
}

function judgeMutate(mutate: Doors['mutate'], request: AdmissionRequest): Judgement {
  const skip = notForPureDoors(request)
  if (skip !== undefined) return { answer: allowed(request), result: skip }
  const operations = mutate(request)
  return { answer: patched(request, operations), result: operations.length > 0 ? 'patched' : 'allowed' }
}

async function judgeValidate(validate: Doors['validate'], request: AdmissionRequest): Promise<Judgement> {
  const skip = notForPureDoors(request)
  if (skip !== undefined) return { answer: allowed(request), result: skip }
  const { findings, warnings } = await validate(request)
  return findings.length > 0
    ? { answer: denied(request, findings, warnings), result: 'denied' }
    : { answer: allowed(request, warnings), result: 'allowed' }
}

/** A patch on DELETE is an error of the API server's that no failurePolicy forgives; subresources are not ours. */
function notForPureDoors({ operation, subResource, group, kind }: AdmissionRequest): string | undefined {
  if (operation === 'DELETE' || operation === 'CONNECT' || subResource !== '') return 'ignored'
  return kindOf(group, kind) === undefined ? 'unknownKind' : undefined
}

/** Allowed in every case: the write must not wait for us, nor fail because we are busy. What is lost the sweep finds. */
async function judgeNotify(
  acceptEvent: Doors['acceptEvent'],
  options: AdmissionOptions,
  request: AdmissionRequest,
): Promise<Judgement> {
  const answer = allowed(request)
  const event = admissionEvent(request, options.clock.now())
  if ('ignored' in event) return { answer, result: event.ignored === 'unknownKind' ? 'unknownKind' : 'ignored' }
  try {
    const trace = options.tracer?.current()
    const { keys } = await acceptEvent(trace === undefined ? event : { ...event, trace })
    return { answer, result: keys > 0 ? 'queued' : 'ignored' }
  } catch (error) {
    if (isCatalogueError(error, 'QueueFull')) return { answer, result: 'queueFull' }
    if (isCatalogueError(error, 'QueueUnreachable')) return { answer, result: 'queueUnreachable' }
    throw error
  }
}

const WARNINGS: Readonly<Record<string, string>> = {
  unknownKind: 'a review of a kind this function does not know was allowed; narrow the rules of the registration',
  queueFull: 'the queue is full: a change was not queued, the sweep will find it',
  queueUnreachable: 'the broker did not take a change, the sweep will find it',
}

function report(
  door: Door,
  request: AdmissionRequest,
  result: string,
  started: number,
  { clock, logger, metrics, tracer }: AdmissionOptions,
): void {
  metrics.count(DOOR_METRICS.reviews.name, { door, result })
  const warning = WARNINGS[result]
  if (warning === undefined && logger.tellsInfo === false) return
  const trace = tracer?.current()
  const fields = {
    door,
    result,
    uid: excerpt(request.uid),
    operation: request.operation,
    kind: excerpt(request.kind),
    namespace: excerpt(request.namespace),
    name: excerpt(request.name),
    username: excerpt(request.username),
    dryRun: request.dryRun,
    durationMs: clock.now() - started,
    ...(trace && { traceId: traceIdOf(trace) }),
  }
  if (warning === undefined) logger.info(fields, 'admission review answered')
  else logger.warn(fields, warning)
}
