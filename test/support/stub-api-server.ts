import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'

export interface StubRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** A whole answer, or a way of giving none: the function gets the response to leave open, cut off or destroy. */
export type StubAnswer =
  | { status: number; headers?: Record<string, string>; body?: object | string }
  | ((response: ServerResponse) => void)

/** An HTTPS server that says what it is told to say. */
export interface StubApiServer {
  url: string
  caPem: string
  requests: StubRequest[]
  /** TLS connections that were ever opened. */
  connections(): number
  /** From now on, to every request. */
  answer(always: StubAnswer): void
  answerEach(choose: (request: StubRequest) => StubAnswer): void
  close(): Promise<void>
}

export async function startStubApiServer(): Promise<StubApiServer> {
  const authority = await createCertificateAuthority(Date.now(), 'stub')
  const { certPem, keyPem } = await authority.issueServingCertificate(['127.0.0.1', 'localhost'])
  const requests: StubRequest[] = []
  const sockets = new Set<Socket>()
  let opened = 0
  let answerFor: (request: StubRequest) => StubAnswer = () => ({ status: 500 })

  const server = createServer({ cert: certPem, key: keyPem, keepAliveTimeout: 60_000 }, async (message, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = message
    const request = { method, url, headers, body: Buffer.concat(chunks).toString() }
    requests.push(request)
    const answer = answerFor(request)
    if (typeof answer === 'function') return answer(response)
    const { status, headers: sent = {}, body = '' } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...sent })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.on('secureConnection', (socket) => {
    opened += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.caPem,
    requests,
    connections: () => opened,
    answer(always) {
      answerFor = () => always
    },
    answerEach(choose) {
      answerFor = choose
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
