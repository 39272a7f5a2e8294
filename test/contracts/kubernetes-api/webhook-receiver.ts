import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Body } from './api-client.ts'

export interface ReviewRequest {
  uid: string
  kind: Record<string, string>
  resource: Record<string, string>
  requestKind?: Record<string, string>
  requestResource?: Record<string, string>
  subResource?: string
  requestSubResource?: string
  name?: string
  namespace?: string
  operation: string
  userInfo: { username: string; groups?: string[]; uid?: string }
  object: Body | null
  oldObject: Body | null
  dryRun: boolean
  options: Record<string, unknown> | null
}

/** One call of the API server, as it came over the wire. */
export interface ReceivedReview {
  method: string
  path: string
  query: string
  httpVersion: string
  headers: IncomingHttpHeaders
  /** Tells connections apart. */
  connection: string
  /** The name asked for in the TLS handshake, if any. */
  serverName: string
  text: string
  review: { apiVersion: string; kind: string; request: ReviewRequest }
  request: ReviewRequest
  /** Milliseconds on a clock that only moves forward. */
  arrived: number
  answered?: number
}

/** What goes back: an HTTP answer, or no answer but the end of the connection. */
export type WebhookAnswer = { code?: number; headers?: Record<string, string>; body: unknown } | { hangUp: true }

export type Behaviour = (received: ReceivedReview) => WebhookAnswer | Promise<WebhookAnswer>

/** A webhook server of our own whose behaviour each check sets, path by path. */
export interface WebhookReceiver {
  port: number
  caPem: string
  /** Protocols the last client offered in its TLS handshake. */
  offeredProtocols(): readonly string[]
  serve(path: string, behaviour: Behaviour): ReceivedReview[]
  close(): Promise<void>
}

export interface ReceiverCertificate {
  caPem: string
  certPem: string
  keyPem: string
}

interface Route {
  behaviour: Behaviour
  received: ReceivedReview[]
}

export async function startWebhookReceiver({ caPem, certPem, keyPem }: ReceiverCertificate): Promise<WebhookReceiver> {
  const routes = new Map<string, Route>()
  let offered: readonly string[] = []
  const server = createServer(
    {
      cert: certPem,
      key: keyPem,
      ALPNCallback: ({ protocols }) => {
        offered = protocols
        return protocols.includes('http/1.1') ? 'http/1.1' : undefined
      },
    },
    (request, response) => {
      answer(routes, request, response).catch((error: unknown) => {
        response.writeHead(500).end(String(error))
      })
    },
  )
  // Longer than the API server keeps an idle connection, so that no request meets a closing one.
  server.keepAliveTimeout = 120_000
  const sockets = new Set<Socket>()
  server.on('secureConnection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    port: (server.address() as AddressInfo).port,
    caPem,
    offeredProtocols: () => offered,
    serve(path, behaviour) {
      const route: Route = { behaviour, received: [] }
      routes.set(path, route)
      return route.received
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(routes: Map<string, Route>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const received = receivedReview(request, Buffer.concat(chunks).toString('utf8'))
  const route = routes.get(received.path)
  if (route === undefined) return void response.writeHead(404).end(`no webhook at ${received.path}`)

  route.received.push(received)
  const reply = await route.behaviour(received)
  received.answered = performance.now()
  if ('hangUp' in reply) return void request.socket.destroy()
  const body = typeof reply.body === 'string' || Buffer.isBuffer(reply.body) ? reply.body : JSON.stringify(reply.body)
  response.writeHead(reply.code ?? 200, { 'content-type': 'application/json', ...reply.headers }).end(body)
}

function receivedReview(request: IncomingMessage, text: string): ReceivedReview {
  const [path = '/', query = ''] = (request.url ?? '/').split('?')
  const review = JSON.parse(text) as ReceivedReview['review']
  const { servername } = request.socket as Socket & { servername?: string | false }
  return {
    method: request.method ?? '',
    path,
    query,
    httpVersion: request.httpVersion,
    headers: request.headers,
    connection: String(request.socket.remotePort),
    serverName: servername || '',
    text,
    review,
    request: review.request,
    arrived: performance.now(),
  }
}
