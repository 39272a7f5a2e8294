import type { Socket } from 'node:net'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CatalogueError } from '../../domain/catalogue-error.ts'
import type { Logger } from '../../ports/logger.ts'
import { badRequest } from './bad-request.ts'
import { type ErrorAnswer, errorAnswer } from './error-answer.ts'

/** Every failure leaves as the one error body: thrown errors, Fastify's own, unknown paths and wrong methods. */
export function registerErrorHandling(app: FastifyInstance, logger: Logger): void {
  const methods = collectMethods(app)
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(error, request, reply, logger))
  // Before the body is read: an unknown path is not asked for the media type of its body first.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) sendNotFound(request, reply, methods)
    else done()
  })
}

function sendNotFound(request: FastifyRequest, reply: FastifyReply, methods: Map<string, string[]>): FastifyReply {
  const allow = methods.get(pathOf(request.url))
  if (allow === undefined) {
    const fault = badRequest('path', 'there is no door here; GET /openapi.json lists them')
    return send(reply, { ...errorAnswer(fault), status: 404 })
  }
  const fault = badRequest('method', `must be ${allow.join(' or ')}`, { value: request.method })
  return send(reply.header('allow', allow.join(', ')), { ...errorAnswer(fault), status: 405 })
}

/** Which methods each path has, filled while the routes are registered. */
function collectMethods(app: FastifyInstance): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  app.addHook('onRoute', ({ url, method }) => {
    methods.set(url, [...(methods.get(url) ?? []), ...[method].flat()])
  })
  return methods
}

function sendError(error: FastifyError, request: FastifyRequest, reply: FastifyReply, logger: Logger): FastifyReply {
  const fault = translate(error)
  const answer = errorAnswer(fault)
  if (answer.status === 500) {
    logger.error({ err: fault, method: request.method, path: pathOf(request.url) }, 'a door failed')
  } else {
    logger.debug({ status: answer.status, code: answer.body.code, path: pathOf(request.url) }, 'request refused')
  }
  return send(reply, answer)
}

/** Fastify's errors about the request, in our words; whatever else is no catalogue error stays what it is: a bug. */
function translate(error: FastifyError): Error {
  if (error instanceof CatalogueError) return error
  if (error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new CatalogueError('UnsupportedMediaType', 'content-type: must be a media type', { field: 'content-type' })
  }
  const ofRequest = error.code?.startsWith('FST_ERR_') && error.statusCode !== undefined && error.statusCode < 500
  return ofRequest ? badRequest('request', `cannot be read (${error.code})`) : error
}

function send(reply: FastifyReply, answer: ErrorAnswer): FastifyReply {
  return reply.code(answer.status).headers(answer.headers).send(answer.body)
}

/** For URLs that Fastify cannot decode, before any route is known. */
export function answerBadUrl(_error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  send(reply, errorAnswer(badRequest('path', 'must be percent-encoded UTF-8')))
}

const STATUS_OF_CLIENT_ERRORS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/** What HTTP says of the bytes that came; not that they go on after the last answer. */
const FAULT_OF_HTTP = /^(?:HPE_(?!CLOSED_CONNECTION)|ERR_HTTP_)/

/**
 * What never became a request, because it is no HTTP or came too slowly, is answered on the bare socket. A connection that
 * fails below HTTP is not, as an answer may just have gone out on it: after a client certificate with a forged signature
 * OpenSSL reports one read too late.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (!FAULT_OF_HTTP.test(error.code ?? '') || !socket.writable) {
    socket.destroySoon()
    return
  }
  const status = STATUS_OF_CLIENT_ERRORS[error.code ?? ''] ?? '400 Bad Request'
  const { body } = errorAnswer(badRequest('request', `${status.slice(4).toLowerCase()}; send HTTP/1.1`))
  const text = JSON.stringify(body)
  const headers = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close`
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${text}`)
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}
