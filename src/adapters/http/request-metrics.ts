import type { FastifyInstance, FastifyReply } from 'fastify'
import { DOOR_METRICS } from './door-metrics.ts'
import type { GuardOptions } from './door-options.ts'

/** Counts every answer by route, never by the path that was asked for: that is the caller's text. */
export function registerRequestMetrics(app: FastifyInstance, { metrics }: GuardOptions): void {
  app.addHook('onRoute', (route) => {
    const { url } = route
    route.onResponse = (_request, reply, done) => {
      measure(url, reply)
      done()
    }
  })
  app.addHook('onResponse', (request, reply, done) => {
    if (request.is404) measure('none', reply)
    done()
  })

  function measure(door: string, reply: FastifyReply): void {
    metrics.count(DOOR_METRICS.requests.name, { door, status: String(reply.statusCode) })
    metrics.observe(DOOR_METRICS.duration.name, reply.elapsedTime / 1_000, { door })
  }
}
