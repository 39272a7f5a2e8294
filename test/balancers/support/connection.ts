import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect, isIPv6, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { PodAnswer, Reply, Target } from './target.ts'

/** Gives up a request that nobody answers. */
const PATIENCE_MS = 15_000

/** One client connection, which asks again and again over itself. Any failure closes it; the next request opens it anew. */
export interface Connection {
  /**
   * A request over a connection that was used before, and that is closed before anything of the answer has come, is
   * repeated once over a new one, as clients of HTTP do (RFC 9112, section 9.3.1). The reply says so.
   */
  ask(target: Target): Promise<Reply>
  close(): void
}

export function openConnection(protocol: Target['protocol']): Connection {
  return protocol === 'tcp' ? tcpConnection() : httpConnection(protocol)
}

/** Over a connection of its own. */
export async function ask(target: Target): Promise<Reply> {
  const connection = openConnection(target.protocol)
  try {
    return await connection.ask(target)
  } finally {
    connection.close()
  }
}

function httpConnection(protocol: 'http' | 'https'): Connection {
  const options = { keepAlive: true, maxSockets: 1, scheduling: 'fifo' as const }
  const agent = protocol === 'http' ? new HttpAgent(options) : new HttpsAgent({ ...options, maxCachedSessions: 0 })
  const request = protocol === 'http' ? httpRequest : httpsRequest
  const once = (target: Target): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const { address, port, path = '/', method = 'GET', headers = {}, body, caPem, from } = target
      const host = target.host ?? (isIPv6(address) ? `[${address}]` : address)
      const sent = request({
        agent,
        host: address,
        port,
        path,
        method,
        headers: { host, ...headers },
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(from === undefined ? {} : { localAddress: from }),
        ...(target.host === undefined ? {} : { servername: target.host }),
        ...(caPem === undefined ? {} : { ca: caPem }),
      })
      sent.once('error', (error: NodeJS.ErrnoException) =>
        reject(sent.reusedSocket && isClosed(error) ? new ReusedConnectionClosed() : error),
      )
      sent.once('response', (response) => {
        const certificate = protocol === 'https' ? (response.socket as TLSSocket).getPeerCertificate() : undefined
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => void chunks.push(chunk))
        response.once('error', reject)
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString()
          const { statusCode: status = 0, headers } = response
          resolve({
            status,
            headers,
            text,
            ...(status === 200 ? podIn(text) : {}),
            ...(certificate === undefined ? {} : { fingerprint: certificate.fingerprint256 }),
          })
        })
      })
      sent.end(body)
    })
  return {
    async ask(target) {
      try {
        return await once(target)
      } catch (error) {
        if (!(error instanceof ReusedConnectionClosed)) throw error
        return { ...(await once(target)), isRepeated: true }
      }
    },
    close: () => agent.destroy(),
  }
}

/** Before anything of the answer has come. */
class ReusedConnectionClosed extends Error {
  override readonly name = 'ReusedConnectionClosed'
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE'
}

/** Lines over TCP. A connection that was closed while nothing was asked is opened anew, and no failure. */
function tcpConnection(): Connection {
  let socket: Socket | undefined
  const close = () => {
    socket?.destroy()
    socket = undefined
  }
  const connected = ({ address, port, from, preamble }: Target): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const opened = connect({ host: address, port, ...(from === undefined ? {} : { localAddress: from }) })
      socket = opened.setNoDelay()
      opened.once('error', reject)
      opened.once('close', () => {
        reject(withCode('closed'))
        if (socket === opened) socket = undefined
      })
      opened.once('connect', () => {
        if (preamble !== undefined) opened.write(preamble, 'latin1')
        resolve(opened)
      })
    })
  const exchange = (over: Socket): Promise<string> =>
    new Promise((resolve, reject) => {
      let text = ''
      const settle = () => void over.off('data', read).off('error', failed).off('close', closed)
      const read = (chunk: Buffer) => {
        text += chunk.toString()
        if (!text.endsWith('\n')) return
        settle()
        resolve(text)
      }
      const failed = (error: Error) => {
        settle()
        reject(error)
      }
      const closed = () => failed(withCode('closed'))
      over.on('data', read).once('error', failed).once('close', closed)
      over.write('?\n')
    })
  return {
    async ask(target) {
      const impatient = setTimeout(() => socket?.destroy(withCode('timeout')), PATIENCE_MS)
      try {
        const text = await exchange(socket ?? (await connected(target)))
        return { status: 0, headers: {}, text, ...podIn(text) }
      } catch (error) {
        close()
        throw error
      } finally {
        clearTimeout(impatient)
      }
    },
    close,
  }
}

function withCode(code: string): Error {
  return Object.assign(new Error(code), { code })
}

function podIn(text: string): { pod?: PodAnswer } {
  try {
    const parsed = JSON.parse(text) as Partial<PodAnswer>
    return typeof parsed.pod === 'string' ? { pod: parsed as PodAnswer } : {}
  } catch {
    return {}
  }
}
