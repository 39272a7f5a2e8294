import type { Bench } from './bench.ts'

/** One thing an attacker tries. None of them may make, change or remove anything. */
export interface Attempt {
  name: string
  /** Sends it, and answers everything that came back. */
  send: (bench: Bench) => Promise<string>
  /** The statuses of the answers, in order; none where the connection ends without one. */
  answers: readonly number[]
}

export interface Sent {
  method?: string
  /** Behind the secret prefix. */
  path: string
  token?: string
  headers?: Record<string, string>
  body?: string | Buffer | object
}

/** As an ordinary client sends it, then closes. */
export function request(bench: Bench, sent: Sent): Buffer {
  return message({ ...sent, path: `${bench.prefix}${sent.path}` })
}

/** The same without the prefix. */
export function message({ method = 'POST', path, token, headers = {}, body = '' }: Sent): Buffer {
  const bytes =
    typeof body === 'string' ? Buffer.from(body) : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
  const all: Record<string, string> = {
    host: 'function.example.com',
    'content-type': path.includes('/events') ? 'application/cloudevents+json' : 'application/json',
    'content-length': String(bytes.length),
    connection: 'close',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes])
}
