import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Every answer given while this instance shuts down closes its connection. A caller that is to ask again would otherwise
 * come back to us; and a connection that was busy when the server closed would hold it open for the whole keep-alive.
 *
 * A connection that never carried a request is busy to Node, so it is closed here. Go's transport, and so the API server,
 * dials such ones: for a request that another connection then takes.
 */
export function releaseConnections(app: FastifyInstance, draining: () => boolean): void {
  let closing = false
  const unused = new Map<string, Socket>()

  // The raw socket: over TLS, one before or in its handshake too.
  app.server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    unused.set(peer, socket)
    socket.once('close', () => {
      if (unused.get(peer) === socket) unused.delete(peer)
    })
    if (closing) socket.destroy()
  })
  const used = new WeakSet<Socket>()
  app.server.on('request', ({ socket }: { socket: Socket }) => {
    if (used.has(socket)) return
    used.add(socket)
    unused.delete(peerOf(socket))
  })

  app.addHook('preClose', async () => {
    closing = true
    for (const socket of unused.values()) socket.destroy()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || draining()) reply.header('connection', 'close')
    done()
  })
}

/** The same of a TLS socket and of the one below it. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
