import { type ClientRequest, type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { CaddyFailure } from './caddy-failure.ts'
import type { ConfigurationChange } from './smallest-change.ts'

/** The admin endpoint of one Caddy (https://caddyserver.com/docs/api). */
export interface CaddyAdmin {
  /** For people: where it is. */
  readonly address: string
  /** The whole configuration, null where there is none, and what a write is guarded by. */
  read(signal: AbortSignal): Promise<{ configuration: unknown; etag: string }>
  /** The object of this `@id`; undefined where Caddy knows none. */
  find(id: string, signal: AbortSignal): Promise<unknown>
  /** Rejects with `changed` where the configuration is not the one that `etag` came with. */
  write(change: ConfigurationChange, etag: string, signal: AbortSignal): Promise<void>
}

export interface CaddyAdminOptions {
  /** `http:`, `https:`, or `unix:///run/caddy/admin.sock`. */
  url: URL
  timeoutMs: number
  /** Read for each request, so that renewed certificates are used. Only for `https:`. */
  tls?: () => Promise<CaddyAdminTls>
}

/** PEM. */
export interface CaddyAdminTls {
  ca?: string
  cert?: string
  key?: string
  /** Where the certificate of the endpoint is for another name than that of the URL. */
  servername?: string
}

export function createCaddyAdmin({ url, timeoutMs, tls }: CaddyAdminOptions): CaddyAdmin {
  const address = url.href.replace(/\/$/, '')

  async function ask(
    method: string,
    path: string,
    signal: AbortSignal,
    etag?: string,
    value?: unknown,
  ): Promise<Answer> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    try {
      return await send({ url, method, path, etag, value, signal: limited, tls: await tls?.() })
    } catch (error) {
      signal.throwIfAborted()
      const why = limited.aborted ? `no answer within ${timeoutMs} ms` : messageOf(error)
      throw new CaddyFailure('unreachable', `the admin endpoint of Caddy at ${address} cannot be used: ${why}`, {
        cause: error,
      })
    }
  }

  /** A configuration that is loaded meanwhile closes connections to the endpoint; reading once more changes nothing. */
  async function get(path: string, signal: AbortSignal): Promise<Answer> {
    try {
      return await ask('GET', path, signal)
    } catch (error) {
      if (!isConnectionReset(error)) throw error
      return await ask('GET', path, signal)
    }
  }

  function unexpected({ status, body }: Answer): CaddyFailure {
    return new CaddyFailure('unreachable', `Caddy at ${address} answered ${status}: ${explanation(body)}`)
  }

  return {
    address,
    async read(signal) {
      const answer = await get('/config/', signal)
      if (answer.status !== 200) throw unexpected(answer)
      if (answer.etag === undefined) {
        const message = `Caddy at ${address} sends no ETag, without which changes are not safe; it must be 2.6 or newer`
        throw new CaddyFailure('unreachable', message)
      }
      return { configuration: parsed(answer, address), etag: answer.etag }
    },
    async find(id, signal) {
      const answer = await get(`/id/${encodeURIComponent(id)}`, signal)
      if (answer.status === 200) return parsed(answer, address)
      // Any other 404 is not Caddy's, and says nothing.
      if (answer.status === 404 && explanation(answer.body).startsWith('unknown object ID')) return undefined
      throw unexpected(answer)
    },
    async write({ method, path, value }, etag, signal) {
      const answer = await ask(method, `/config/${path.map(encodeURIComponent).join('/')}`, signal, etag, value)
      if (answer.status === 200) return
      if (answer.status === 412) throw new CaddyFailure('changed', `the configuration of Caddy at ${address} changed`)
      if (answer.status !== 400 && answer.status !== 500) throw unexpected(answer)
      throw new CaddyFailure('refused', `Caddy at ${address} refuses the configuration: ${explanation(answer.body)}`)
    },
  }
}

interface Question {
  url: URL
  method: string
  path: string
  etag: string | undefined
  value: unknown
  signal: AbortSignal
  tls: CaddyAdminTls | undefined
}

interface Answer {
  status: number
  body: string
  /** In a trailer: Caddy knows it only when it has sent the configuration. */
  etag: string | undefined
}

function send({ url, method, path, etag, value, signal, tls }: Question): Promise<Answer> {
  const body = value === undefined ? undefined : JSON.stringify(value)
  const options: RequestOptions = {
    method,
    // A connection is closed by the change that comes over it, so none is kept.
    agent: false,
    signal,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...(etag === undefined ? {} : { 'if-match': etag }),
    },
  }
  return new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage) => void collect(response).then(resolve, reject)
    const request = begin(url, path, options, tls, answered)
    request.once('error', reject)
    request.end(body)
  })
}

function begin(
  url: URL,
  path: string,
  options: RequestOptions,
  tls: CaddyAdminTls | undefined,
  answered: (response: IncomingMessage) => void,
): ClientRequest {
  if (url.protocol === 'unix:') {
    // Caddy asks that the Host of a request over a socket is empty, or one of its origins.
    return plainRequest(
      {
        ...options,
        socketPath: decodeURIComponent(url.pathname),
        path,
        setHost: false,
        headers: { ...options.headers, host: '' },
      },
      answered,
    )
  }
  const target = new URL(`${url.pathname.replace(/\/$/, '')}${path}`, url)
  return url.protocol === 'https:'
    ? tlsRequest(target, { ...options, ...tls }, answered)
    : plainRequest(target, options, answered)
}

async function collect(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  if (!response.complete) throw new Error('the answer was cut off')
  const etag = response.trailers['etag']
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8'), etag }
}

function parsed({ body }: Answer, address: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw new CaddyFailure('unreachable', `what answers at ${address} is not the admin endpoint of a Caddy: no JSON`)
  }
}

/** Caddy's own words. They may quote what it was sent, so no PEM gets further, and no long text. */
function explanation(body: string): string {
  const text = errorOf(body) ?? body
  return text
    .replaceAll(/-----BEGIN[\s\S]*?(-----END[^-]*-----|$)/g, '[PEM]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, 500)
}

function errorOf(body: string): string | undefined {
  try {
    const { error } = JSON.parse(body) as { error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}

function isConnectionReset(error: unknown): boolean {
  if (!(error instanceof CaddyFailure) || error.reason !== 'unreachable') return false
  const { cause } = error
  return cause instanceof Error && 'code' in cause && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || String((error as { code?: unknown }).code) : String(error)
}
