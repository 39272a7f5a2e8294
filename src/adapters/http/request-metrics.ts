import type { FastifyInstance } from 'fastify'
import { DOOR_METRICS } from './door-metrics.ts'
import type { GuardOptions } from './door-options.ts'

/** Counts every answer by route, never by the path that was asked for: that is the caller's text. */
export function registerRequestMetrics(app: FastifyInstance, { metrics }: GuardOptions): void {
  app.addHook('onResponse', (request, reply, done) => {
    const door = request.routeOptions.url ?? 'none'
    metrics.count(DOOR_METRICS.requests.name, { door, status: String(reply.statusCode) })
    metrics.observe(DOOR_METRICS.duration.name, reply.elapsedTime / 1_000, { door })
    done()
  })
}
