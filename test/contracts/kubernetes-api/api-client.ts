import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'

/** Where an API server is, and whom it takes us for. */
export interface ApiClientOptions {
  url: string
  caPem: string
  token?: string
  /** A request that takes longer is given up. */
  limitMs?: number
}

/** An object, a list, or a Status: everything the checks look at. */
export interface Body {
  apiVersion?: string
  kind?: string
  metadata: Metadata
  spec?: Record<string, unknown>
  status?: unknown
  items?: Body[]
  message?: string
  reason?: string
  code?: number
  details?: StatusDetails
  [field: string]: unknown
}

export interface Metadata {
  name?: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  finalizers?: string[]
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: unknown[]
  managedFields?: ManagedFields[]
  continue?: string
  remainingItemCount?: number
}

export interface ManagedFields {
  manager?: string
  operation?: string
  subresource?: string
}

export interface StatusDetails {
  name?: string
  group?: string
  kind?: string
  uid?: string
  causes?: { reason?: string; message?: string; field?: string }[]
  retryAfterSeconds?: number
}

export interface Answer {
  code: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The texts of the Warning headers. */
  warnings: string[]
  text: string
  body: Body
}

export interface CallOptions {
  /** Sent as JSON unless it is text already. */
  body?: unknown
  contentType?: string
  accept?: string
}

export interface WatchEvent {
  type: string
  object: Body
}

export interface Watch {
  /** The next event, whatever it is; undefined when the server has ended the watch. */
  next(): Promise<WatchEvent | undefined>
  /** Skips events until one is as wanted. */
  until(wanted: (event: WatchEvent) => boolean): Promise<WatchEvent>
  close(): void
}

export type PatchType = 'json-patch' | 'merge-patch' | 'strategic-merge-patch' | 'apply-patch'

/** Raw HTTPS: what is asked is what is sent, and every answer is an answer, not an exception. */
export interface ApiClient {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  get(path: string, accept?: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
  put(path: string, body: unknown): Promise<Answer>
  patch(type: PatchType, path: string, body: unknown): Promise<Answer>
  delete(path: string, options?: unknown): Promise<Answer>
  watch(path: string): Promise<Watch>
  close(): Promise<void>
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

const PATIENCE_MS = 10_000
// Longer than any API server takes for an answer.
const REQUEST_LIMIT_MS = 40_000

export function createApiClient({ url, caPem, token, limitMs = REQUEST_LIMIT_MS }: ApiClientOptions): ApiClient {
  const dispatcher = new Agent({ connect: { ca: caPem }, connections: 64, allowH2: false })
  const identity = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function send(method: string, path: string, options: CallOptions, signal: AbortSignal) {
    const { body, contentType = 'application/json', accept = 'application/json' } = options
    return await request(url + path, {
      dispatcher,
      signal,
      method: method as Method,
      headers: { ...identity, accept, ...(body === undefined ? {} : { 'content-type': contentType }) },
      bodyTimeout: 0,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  }

  const client: ApiClient = {
    async call(method, path, options = {}) {
      const response = await send(method, path, options, AbortSignal.timeout(limitMs))
      const text = await response.body.text()
      const { statusCode: code, headers } = response
      return { code, headers, warnings: warningsIn(headers['warning']), text, body: bodyOf(text) }
    },
    get: (path, accept) => client.call('GET', path, accept === undefined ? {} : { accept }),
    post: (path, body) => client.call('POST', path, { body }),
    put: (path, body) => client.call('PUT', path, { body }),
    patch(type, path, body) {
      const suffix = type === 'apply-patch' ? 'yaml' : 'json'
      return client.call('PATCH', path, { body, contentType: `application/${type}+${suffix}` })
    },
    delete: (path, options) => client.call('DELETE', path, options === undefined ? {} : { body: options }),
    async watch(path) {
      const abort = new AbortController()
      const response = await send('GET', path, {}, abort.signal)
      if (response.statusCode !== 200) throw new Error(`watch: ${response.statusCode} ${await response.body.text()}`)
      return readWatch(response.body, abort)
    },
    close: () => dispatcher.destroy(),
  }
  return client
}

function bodyOf(text: string): Body {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null) return { metadata: {}, ...parsed }
  } catch {
    // Plain text, as from /readyz.
  }
  return { metadata: {} }
}

function warningsIn(header: string | string[] | undefined): string[] {
  const lines = header === undefined ? [] : [header].flat()
  return lines.flatMap((line) =>
    [...line.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) => (match[1] ?? '').replace(/\\(.)/g, '$1')),
  )
}

function readWatch(stream: Readable, abort: AbortController): Watch {
  const events: WatchEvent[] = []
  const arrival = new EventTarget()
  let ended = false
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    events.push(...lines.filter((line) => line !== '').map((line) => JSON.parse(line) as WatchEvent))
    arrival.dispatchEvent(new Event('news'))
  })
  const end = () => {
    ended = true
    arrival.dispatchEvent(new Event('news'))
  }
  stream.on('end', end)
  stream.on('error', end)

  const watch: Watch = {
    async next() {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      while (events.length === 0 && !ended) await once(arrival, 'news', { signal })
      return events.shift()
    },
    async until(wanted) {
      const seen: string[] = []
      for (;;) {
        const event = await watch.next().catch(() => undefined)
        if (event === undefined) throw new Error(`the watch did not bring what was waited for; it brought [${seen}]`)
        if (wanted(event)) return event
        seen.push(`${event.type} ${event.object.metadata?.name}`)
      }
    },
    close: () => abort.abort(),
  }
  return watch
}
