// node pod-server.ts: the pods of one cluster. What they are comes as the first message from the parent, and it asks
// them by messages; without the parent they end.
import { createServer as createHttp } from 'node:http'
import { createServer as createTcp, type Socket } from 'node:net'
import type { Answered, PodOrder, PodReport } from './pods.ts'
import { splitProxyHeader } from './proxy-header.ts'

const answered: Answered = { requests: {}, healthChecks: {} }
const sick = new Set<string>()

process.on('disconnect', () => process.exit(0))
process.on('message', (order: PodOrder) => {
  if (order.kind === 'serve') void serve(order).then(() => report({ kind: 'serving' }))
  if (order.kind === 'count') report({ kind: 'counted', answered })
  if (order.kind === 'health') {
    if (order.isHealthy) sick.delete(order.pod)
    else sick.add(order.pod)
    report({ kind: 'done' })
  }
})

function report(message: PodReport): void {
  process.send?.(message)
}

async function serve({ cluster, pods, ports }: Extract<PodOrder, { kind: 'serve' }>): Promise<void> {
  for (const { name, addresses } of pods)
    for (const address of addresses) {
      await listening(httpServer(cluster, name), ports.http, address)
      await listening(tcpServer(cluster, name, false), ports.tcp, address)
      await listening(tcpServer(cluster, name, true), ports.proxied, address)
    }
}

function listening(server: ReturnType<typeof createTcp>, port: number, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, address, 1_024, resolve)
  })
}

function count(counts: Record<string, number>, pod: string): void {
  counts[pod] = (counts[pod] ?? 0) + 1
}

function httpServer(cluster: string, pod: string) {
  const server = createHttp((request, response) => {
    const { method, url = '/', headers } = request
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (url.startsWith('/healthz')) {
        count(answered.healthChecks, pod)
        response.writeHead(sick.has(pod) ? 503 : 200).end()
        return
      }
      count(answered.requests, pod)
      const delay = Number(new URL(url, 'http://pod').searchParams.get('delay') ?? 0)
      const bytes = Buffer.concat(chunks).length
      const body = JSON.stringify({ cluster, pod, method, url, headers, bytes, from: request.socket.remoteAddress })
      const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      if (delay > 0) setTimeout(answer, delay)
      else answer()
    })
  })
  // Longer than a proxy keeps one: it is the proxy that closes.
  server.keepAliveTimeout = 600_000
  return server
}

/** Answers each line with one; behind a PROXY header if it is to expect one. */
function tcpServer(cluster: string, pod: string, isProxied: boolean) {
  return createTcp({ noDelay: true }, (socket) => {
    let text = ''
    let header: string | undefined
    socket.setEncoding('latin1')
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: string) => {
      text += chunk
      if (isProxied && header === undefined) {
        const split = splitProxyHeader(text)
        if (split === undefined) return
        header = split.source
        text = split.rest
      }
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
        text = text.slice(end + 1)
        count(answered.requests, pod)
        answerLine(socket, { cluster, pod, from: header ?? socket.remoteAddress })
      }
    })
  })
}

function answerLine(socket: Socket, answer: object): void {
  if (socket.writable) socket.write(`${JSON.stringify(answer)}\n`)
}
