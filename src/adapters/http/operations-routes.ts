import type { FastifyInstance } from 'fastify'
import type { DoorOptions } from './door-options.ts'
import type { Doors } from './doors.ts'

/** Probes, metrics and the API's description. `?verbose` on /readyz lists every check, as the API server's own does. */
export function registerOperationsRoutes(app: FastifyInstance, doors: Doors, options: DoorOptions): void {
  app.get('/healthz', async () => ({ status: 'ok' }))

  app.get<{ Querystring: Record<string, unknown> }>('/readyz', async (request, reply) => {
    const { ready, checks } = await doors.readiness()
    const taking = ready && !doors.draining()
    const verbose = 'verbose' in request.query
    return reply.code(taking ? 200 : 503).send({ ready: taking, ...(verbose ? { checks } : {}) })
  })

  app.get('/metrics', async (_request, reply) => {
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await doors.metricsText())
  })

  app.get('/openapi.json', async (_request, reply) => reply.type('application/json').send(await options.openapi()))
}
