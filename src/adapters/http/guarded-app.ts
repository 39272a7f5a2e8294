import Fastify, { type FastifyInstance } from 'fastify'
import { createServer } from './create-server.ts'
import type { GuardOptions } from './door-options.ts'
import { answerBadUrl, answerClientError, registerErrorHandling } from './error-handling.ts'
import { guardDoors } from './guard-doors.ts'
import { prefixRemover } from './path-prefix.ts'
import { readBody } from './read-body.ts'
import { releaseConnections } from './release-connections.ts'
import { registerRequestMetrics } from './request-metrics.ts'

/** No route has a schema: bodies are decoded by hand, answers are texts or small. Fastify would load its compilers all the same. */
const NO_COMPILERS = { buildValidator: noCompiler, buildSerializer: noCompiler }

function noCompiler(): never {
  throw new TypeError('no route has a schema')
}

/** An app without doors: limits, proofs of callers and answers to what is wrong, for the routes to come. */
export function guardedApp(draining: () => boolean, options: GuardOptions): FastifyInstance {
  const removePrefix = options.pathPrefix === undefined ? undefined : prefixRemover(options.pathPrefix)
  const app = Fastify({
    // Nothing of ours that it calls while it starts waits for anything, and each hook and route would have a timer.
    pluginTimeout: 0,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: NO_COMPILERS },
    // While closing, our own doors answer 503 with Retry-After; Fastify's answer has none.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: answerBadUrl,
    clientErrorHandler: answerClientError,
    serverFactory: (handler) => createServer(handler, options.tls),
    ...(removePrefix && { rewriteUrl: (request: { url?: string | undefined }) => removePrefix(request.url ?? '/') }),
  })
  takeBodiesAsBytes(app)
  registerErrorHandling(app, options.logger)
  registerRequestMetrics(app, options)
  guardDoors(app, options)
  releaseConnections(app, draining)
  return app
}

/**
 * Fastify's own JSON parser replaces invalid UTF-8, and its text parser takes what no door understands. A media type that
 * is named here is looked up; of any other Fastify reads the header for each request.
 */
function takeBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(['application/json', '*'], readBody)
}
