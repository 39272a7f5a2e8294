import { createServer, type Socket } from 'node:net'

/** A backend for TCP that says its name to whoever says something, and keeps the connection. */
export interface AnsweringServer {
  name: string
  port: number
  /** `127.0.0.1:40001` */
  endpoint: string
  /** What came first on every connection. */
  received: string[]
  /** Stops listening and resets what is open. */
  kill(): Promise<void>
}

export async function startAnsweringServer(name: string, port = 0, host = '127.0.0.1'): Promise<AnsweringServer> {
  const sockets = new Set<Socket>()
  const received: string[] = []
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
    socket.once('data', (chunk) => received.push(chunk.toString('latin1')))
    socket.on('data', () => socket.write(`${name}\n`))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    name,
    port: address.port,
    endpoint: `${host}:${address.port}`,
    received,
    kill: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.resetAndDestroy()
      }),
  }
}
