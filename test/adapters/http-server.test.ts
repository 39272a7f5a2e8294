import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { createCertificateAuthority } from '../../src/adapters/certificates/certificate-authority.ts'
import { createServer } from '../../src/adapters/http/create-server.ts'
import { openApp } from '../support/open-app.ts'
import { stubDoors } from '../support/stub-doors.ts'

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

async function answerTo(
  request: http.ClientRequest,
): Promise<{ status: number | undefined; headers: object; body: string }> {
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  let body = ''
  for await (const chunk of response) body += chunk
  return { status: response.statusCode, headers: response.headers, body }
}

t.test('the server keeps connections longer than Go does', async (t) => {
  const { app } = openApp(stubDoors())
  t.equal(app.server.keepAliveTimeout, 95_000)
  t.equal(app.server.requestTimeout, 30_000)
  t.ok(app.server.headersTimeout <= app.server.requestTimeout)
  t.equal(app.server.maxRequestsPerSocket, 0)
  await app.close()
})

t.test('an idle connection outlives the headers timeout; a request that dribbles in does not', async (t) => {
  const server = createServer(
    (request, response) => {
      request.resume().on('end', () => response.end('ok'))
    },
    undefined,
    { keepAliveMs: 10_000, requestMs: 300, checkMs: 50 },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const idle = connect(port, '127.0.0.1')
  for (const _ of [1, 2]) {
    idle.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    const [answer] = await once(idle, 'data')
    t.match(String(answer), /^HTTP\/1.1 200/)
    await new Promise((resolve) => setTimeout(resolve, 700))
  }
  idle.destroy()

  const slow = connect(port, '127.0.0.1')
  slow.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n')
  const dribble = setInterval(() => slow.write('x'), 50)
  const [answer] = await once(slow, 'data')
  clearInterval(dribble)
  t.match(String(answer), /^HTTP\/1.1 408/)
  slow.destroy()
  server.close()
})

t.test('what is no HTTP gets the error body too', async (t) => {
  const { app } = openApp(stubDoors())
  const port = await listen(app)
  for (const [sent, status] of [
    ['no http\r\n\r\n', '400 Bad Request'],
    [`GET /healthz HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`, '431 Request Header Fields Too Large'],
  ] as const) {
    const socket = connect(port, '127.0.0.1')
    socket.write(sent)
    const [answer] = await once(socket, 'data')
    const [head = '', body = ''] = String(answer).split('\r\n\r\n')
    t.ok(head.startsWith(`HTTP/1.1 ${status}`), `answered ${status}`)
    t.match(JSON.parse(body), { code: 'BadRequest' })
    socket.destroy()
  }
  await app.close()
})

t.test('over TLS: HTTP/1.1 and TLS 1.2 at least', async (t) => {
  const authority = await createCertificateAuthority(Date.now())
  const { certPem: cert, keyPem: key } = await authority.issueServingCertificate(['localhost'])
  const { app } = openApp(stubDoors(), { tls: { key, cert } })
  const port = await listen(app)
  const options = {
    host: '127.0.0.1',
    port,
    path: '/healthz',
    servername: 'localhost',
    ca: authority.caPem,
    agent: false,
  }
  const request = https.get({ ...options, ALPNProtocols: ['h2', 'http/1.1'] } as https.RequestOptions)
  const [socket] = (await once(request, 'socket')) as [TLSSocket]
  t.match(await answerTo(request), { status: 200, body: '{"status":"ok"}' })
  t.equal(socket.alpnProtocol, 'http/1.1')
  await t.rejects(answerTo(https.get({ ...options, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' })))
  await app.close()
})

t.test('a body over the limit is refused, announced or not, and the connection closed', async (t) => {
  const { app } = openApp(stubDoors())
  const port = await listen(app)
  const options = { port, host: '127.0.0.1', method: 'POST', path: '/admission/notify', agent: false } as const
  const headers = { 'content-type': 'application/json' }
  const announced = http.request({ ...options, headers: { ...headers, 'content-length': 8 * 1024 * 1024 } })
  announced.on('error', () => {})
  announced.write('{')
  const refused = { status: 413, headers: { connection: 'close' }, body: /BodyTooLarge/ }
  t.match(await answerTo(announced), refused)
  announced.destroy()

  const chunked = http.request({ ...options, headers })
  chunked.on('error', () => {})
  for (let sent = 0; sent < 8; sent++) chunked.write(Buffer.alloc(1024 * 1024, 0x20))
  t.match(await answerTo(chunked), refused)
  chunked.destroy()
  await app.close()
})

t.test('a caller that goes away in the middle of a body is no fault of ours', async (t) => {
  const { app, log } = openApp(stubDoors())
  const port = await listen(app)
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'POST /admission/notify HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a"',
  )
  await once(socket, 'connect')
  await new Promise((resolve) => setTimeout(resolve, 50))
  socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const healthy = await answerTo(http.get({ port, host: '127.0.0.1', path: '/healthz', agent: false }))
  await app.close()
  t.equal(healthy.status, 200)
  t.notOk(log.find(({ level }) => level === 'error'))
})

t.test('closing waits for requests under way and drops idle connections', async (t) => {
  let finish = () => {}
  const { app } = openApp(
    stubDoors({
      work: () =>
        new Promise((resolve) => {
          finish = () => resolve({ kind: 'settled' })
        }),
    }),
  )
  const port = await listen(app)
  const idle = connect(port, '127.0.0.1')
  idle.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(idle, 'data')
  const event = { specversion: '1.0', id: '1', source: '/s', type: 'dev.webhook-cloud-provider.work.v1' }
  const body = JSON.stringify({ ...event, data: { key: 'MultiClusterIngress/shop/web' } })
  const headers = { 'content-type': 'application/cloudevents+json', 'content-length': Buffer.byteLength(body) }
  const work = http.request({ port, host: '127.0.0.1', method: 'POST', path: '/events', headers })
  void work.end(body)
  const answer = answerTo(work)
  await new Promise((resolve) => setTimeout(resolve, 50))
  const dropped = once(idle, 'close')
  const closed = app.close()
  await dropped
  finish()
  t.match(await answer, { status: 204, headers: { connection: 'close' } })
  await closed
})

t.test('closing drops connections that never carried a request, over TLS or not', async (t) => {
  // Go dials one for a request that another connection then takes, and keeps it idle for 90 s.
  const authority = await createCertificateAuthority(Date.now())
  const { certPem: cert, keyPem: key } = await authority.issueServingCertificate(['127.0.0.1'])
  const ready = { plain: 'connect', tls: 'secureConnect', 'before the handshake': 'connect' }
  for (const [name, event] of Object.entries(ready)) {
    const { app } = name === 'plain' ? openApp(stubDoors()) : openApp(stubDoors(), { tls: { cert, key } })
    const port = await listen(app)
    const unused =
      name === 'tls' ? connectTls({ port, host: '127.0.0.1', ca: authority.caPem }) : connect(port, '127.0.0.1')
    // Closing may come as a reset.
    unused.on('error', () => {})
    const seen = once(app.server, name === 'tls' ? 'secureConnection' : 'connection')
    await Promise.all([once(unused, event), seen])
    const dropped = once(unused, 'close')
    await Promise.all([app.close(), dropped])
    t.pass(name)
  }
})
