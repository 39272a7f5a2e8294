import type { FastifyInstance } from 'fastify'

/**
 * Every answer given while this instance shuts down closes its connection. A caller that is to ask again would otherwise
 * come back to us; and a connection that was busy when the server closed would hold it open for the whole keep-alive.
 */
export function releaseConnections(app: FastifyInstance, draining: () => boolean): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing || draining()) reply.header('connection', 'close')
  })
}
