import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import type { DoorAttempts, DoorSettings } from '../../domain/doctor/facts.ts'
import { CannotAsk } from './ask.ts'
import { askDoors, type Credentials } from './door-questions.ts'

/** A running function, as it is reached from here. */
export interface FunctionAddress {
  /** `https://host:port` */
  origin: string
  /** Before the doors; a secret. */
  prefix: string
  /** What the API server calls the host: the name in the certificate. */
  name: string
  ca: string | undefined
  credentials: Credentials
  timeoutMs: number
}

export interface FunctionQuestions {
  readiness(): Promise<{ ready: boolean; failing: string[] }>
  metrics(): Promise<string>
  /** As a caller, and as one without each part of the proof. The review is of a dry run. */
  entry(doors: readonly DoorSettings[], review: object): Promise<DoorAttempts[]>
  close(): Promise<void>
}

export function createFunctionQuestions(address: FunctionAddress): FunctionQuestions {
  const { origin, prefix, name, ca, credentials, timeoutMs } = address
  const dispatcher = new Agent({
    connect: { ...(ca === undefined ? {} : { ca }), ...(isIP(name) === 0 ? { servername: name } : {}) },
  })

  async function send(method: 'GET' | 'POST', path: string, token?: string, body?: object) {
    const response = await request(`${origin}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.statusCode, text: await response.body.text() }
  }

  return {
    async readiness() {
      const { text } = await send('GET', '/readyz?verbose')
      const { ready, checks = [] } = parseReadiness(text)
      return { ready, failing: checks.filter(({ ok }) => !ok).map((check) => `${check.name}: ${check.message}`) }
    },
    async metrics() {
      const { status, text } = await send('GET', '/metrics', credentials.metrics?.token)
      if (status === 401 || status === 403) throw new CannotAsk(`/metrics is guarded, and answered ${status}`)
      if (status !== 200) throw new CannotAsk(`/metrics is answered ${status}`)
      return text
    },
    entry: (doors, review) =>
      askDoors({ doors, prefix, credentials }, review, async ({ method, path, body }, token) => {
        const { status } = await send(method, path, token, body)
        return status
      }),
    close: () => dispatcher.destroy(),
  }
}

interface Readiness {
  ready: boolean
  checks?: { name: string; ok: boolean; message: string }[]
}

function parseReadiness(text: string): Readiness {
  try {
    const body = JSON.parse(text) as Readiness
    if (typeof body.ready === 'boolean') return body
  } catch {}
  throw new CannotAsk('something else than the function answers there')
}
