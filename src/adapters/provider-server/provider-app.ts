import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
} from 'fastify'
import type { CallerProof } from '../../ports/caller-proof.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import { describeProvider } from '../../provider/protocol/describe-provider.ts'
import {
  DESCRIPTION_PATH,
  MEDIA_TYPE,
  OPERATIONS,
  type Operation,
  operationPath,
  PROBLEM_MEDIA_TYPE,
} from '../../provider/protocol/operations.ts'
import { type Problem, type ProblemKind, problem, problemOf } from '../../provider/protocol/problem.ts'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import type { Provider } from '../../provider/provider.ts'
import { answerOperation } from './answer-operation.ts'
import { bearerOf } from './bearer-of.ts'
import { decodeRequest } from './decode-request.ts'
import { ProblemError } from './problem-error.ts'
import { PROVIDER_SERVER_METRICS } from './provider-server-metrics.ts'
import { subjectOf } from './subject-of.ts'
import { withinDeadline } from './within-deadline.ts'

export interface ProviderAppOptions {
  clock: Clock
  logger: Logger
  metrics: Metrics
  metricsText(): Promise<string>
  validate: ProtocolValidator
  /** Who may call; everyone who can reach it when absent. */
  caller?: CallerProof
  /** Of a caller who is not let in. */
  logRefusal?(door: string, reason: string, remoteAddress: string): void
  /** Of a request's body and of an answer's, in bytes. */
  limits: { requestBytes: number; answerBytes: number }
  /** Whether this process takes no further calls. */
  draining(): boolean
  /** Fires when calls under way have no more time. */
  stopped: AbortSignal
  serverFactory?: FastifyServerFactory
}

const EVERYONE = '/healthz'

/** A provider behind the protocol of `openapi-provider.yaml`, as an app: nothing listens. */
export function buildProviderApp(provider: Provider, options: ProviderAppOptions): FastifyInstance {
  const { serverFactory } = options
  const app = Fastify({
    bodyLimit: options.limits.requestBytes,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (_error, _request, reply) => {
      sendProblem(reply, problem('NotFound', 'the path must be percent-encoded UTF-8'))
    },
    ...(serverFactory && { serverFactory }),
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply, options))
  registerMetrics(app, options)
  guard(app, options)
  app.get(EVERYONE, async () => ({ status: 'ok' }))
  app.get('/metrics', async (_request, reply) =>
    reply.type('text/plain; version=0.0.4; charset=utf-8').send(await options.metricsText()),
  )
  app.get(DESCRIPTION_PATH, async (_request, reply) => sendAnswer(reply, describeProvider(provider), options))
  for (const operation of Object.keys(OPERATIONS) as Operation[]) registerOperation(app, operation, provider, options)
  return app
}

function registerOperation(
  app: FastifyInstance,
  operation: Operation,
  provider: Provider,
  options: ProviderAppOptions,
): void {
  app.post(operationPath(operation), { preParsing: requireMediaType }, async (request, reply) => {
    const body = decodeRequest(operation, request.body, options.validate)
    const logger = options.logger.child({ operation, ...subjectOf(body) })
    LOGGERS.set(request.raw, logger)
    const answer = await withinDeadline(body.context.deadlineMs, reply, options, (signal) =>
      answerOperation(operation, provider, body, { signal, logger }),
    )
    const fault = options.validate(OPERATIONS[operation].answer, answer)
    if (fault !== undefined) throw new Error(`the provider's answer cannot be sent: ${fault}`)
    return sendAnswer(reply, answer, options)
  })
}

/** Who calls is asked before anything of a body is read, and before a path is called unknown. */
function guard(app: FastifyInstance, options: ProviderAppOptions): void {
  const { caller, draining, logRefusal } = options
  const methods = new Map<string, string>()
  app.addHook('onRoute', ({ url, method }) => void methods.set(url, String(method)))
  app.addHook('onRequest', async (request) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path === EVERYONE && request.method === 'GET') return
    if (caller !== undefined) await admit(caller, request, (reason) => logRefusal?.('provider', reason, request.ip))
    if (request.is404) {
      const method = methods.get(path)
      if (method === undefined) throw new ProblemError(problem('NotFound', 'there is nothing at this path'))
      throw new ProblemError(problem('MethodNotAllowed', `the method must be ${method}`))
    }
    if (draining() && request.method === 'POST') {
      throw new ProblemError(problem('Draining', 'the provider is stopping', { retryAfterMs: 1_000 }))
    }
  })
}

async function admit(
  caller: CallerProof,
  { raw }: FastifyRequest,
  logRefusal: (reason: string) => void,
): Promise<void> {
  const bearer = bearerOf(raw.rawHeaders)
  const verdict = await caller.check(bearer === undefined ? {} : { bearer })
  if (verdict.kind === 'proven') return
  logRefusal(verdict.reason)
  // All refusals are alike.
  throw new ProblemError(problem('Unauthorized', 'show the bearer token of this provider'))
}

async function requireMediaType(request: FastifyRequest): Promise<undefined> {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity', accept = '*/*' } = request.headers
  const spoken = [MEDIA_TYPE]
  const refuse = (detail: string) => new ProblemError(problem('UnsupportedMediaType', detail, { spoken }))
  if (essenceOf(type) !== MEDIA_TYPE) throw refuse(`content-type must be ${MEDIA_TYPE}`)
  if (encoding.trim().toLowerCase() !== 'identity') throw refuse('compressed bodies are not taken')
  const accepted = accept.split(',').map(essenceOf)
  if (!accepted.some((one) => [MEDIA_TYPE, 'application/*', '*/*'].includes(one))) {
    throw refuse(`accept must allow ${MEDIA_TYPE}`)
  }
}

function essenceOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

function sendAnswer(reply: FastifyReply, answer: unknown, { limits }: ProviderAppOptions): FastifyReply {
  const body = Buffer.from(JSON.stringify(answer))
  const size = body.length
  if (size > limits.answerBytes) {
    throw new ProblemError(
      problem('AnswerTooLarge', `the answer has ${size} bytes; at most ${limits.answerBytes} are sent`),
    )
  }
  return reply.type(MEDIA_TYPE).send(body)
}

function sendError(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  { limits, logger }: ProviderAppOptions,
): FastifyReply {
  const found = translate(error, limits.requestBytes)
  const log = LOGGERS.get(request.raw) ?? logger.child({ operation: operationOf(request) })
  const fields = { problem: found.kind, error: found.detail }
  if (PROVIDERS_OWN.has(found.kind)) log.debug(fields, 'the provider answered')
  else if (found.status >= 500) log.warn(fields, 'a call failed')
  else log.debug(fields, 'request refused')
  // A body that nobody read is on its way still.
  if (!PROVIDERS_OWN.has(found.kind) && found.status < 500) reply.header('connection', 'close')
  return sendProblem(reply, found)
}

/** Words of the provider that are no failure of a call. */
const PROVIDERS_OWN: ReadonlySet<ProblemKind> = new Set([
  'RetryAfter',
  'Terminal',
  'NotImplemented',
  'ImplementedElsewhere',
  'InstanceNotFound',
  'DiskNotFound',
])

function translate(error: FastifyError, requestBytes: number): Problem {
  if (error instanceof ProblemError) return error.problem
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return problem('BodyTooLarge', `the body may have at most ${requestBytes} bytes`)
  }
  const isOfRequest = error.code?.startsWith('FST_ERR_') && error.statusCode !== undefined && error.statusCode < 500
  return isOfRequest ? problem('BadRequest', `the request cannot be read (${error.code})`) : problemOf(error)
}

/** Of the requests under way that are about something. */
const LOGGERS = new WeakMap<object, Logger>()

/** For the metrics, of the requests under way. */
const KINDS = new WeakMap<object, ProblemKind>()

function sendProblem(reply: FastifyReply, found: Problem): FastifyReply {
  if (found.retryAfterMs !== undefined) reply.header('retry-after', String(Math.ceil(found.retryAfterMs / 1_000)))
  if (found.kind === 'Unauthorized') reply.header('www-authenticate', 'Bearer')
  KINDS.set(reply.request.raw, found.kind)
  return reply
    .code(found.status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(found)))
}

function registerMetrics(app: FastifyInstance, { metrics }: ProviderAppOptions): void {
  app.addHook('onResponse', async (request, reply) => {
    const operation = operationOf(request)
    metrics.count(PROVIDER_SERVER_METRICS.requests.name, { operation, problem: KINDS.get(request.raw) ?? '' })
    metrics.observe(PROVIDER_SERVER_METRICS.duration.name, reply.elapsedTime / 1_000, { operation })
  })
}

/** By route, never by the path that was asked for: that is the caller's text. */
function operationOf(request: FastifyRequest): string {
  return request.routeOptions.url?.replace('/v1/', '') ?? 'none'
}
