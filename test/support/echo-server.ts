import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a backend saw of a request. */
export interface Echo {
  /** The address it was reached at. */
  address: string
  method: string
  url: string
  headers: IncomingHttpHeaders
  bodyBytes: number
}

/** Backends on every loopback address of one port: which of them answered is told by the address. */
export interface EchoServer {
  port: number
  /** Answers instead of the echo where it answers true. */
  intercept(handler: (request: IncomingMessage, response: ServerResponse) => boolean): void
  close(): Promise<void>
}

export async function startEchoServer(port = 0): Promise<EchoServer> {
  let handler: (request: IncomingMessage, response: ServerResponse) => boolean = () => false
  const server = createServer(async (request, response) => {
    if (handler(request, response)) return
    let bodyBytes = 0
    try {
      for await (const chunk of request) bodyBytes += (chunk as Buffer).length
    } catch {
      // The proxy gave up in the middle of a body.
      response.destroy()
      return
    }
    const { method = '', url = '', headers, socket } = request
    const echo: Echo = { address: socket.localAddress ?? '', method, url, headers, bodyBytes }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(echo))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '0.0.0.0', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    intercept(wanted) {
      handler = wanted
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
