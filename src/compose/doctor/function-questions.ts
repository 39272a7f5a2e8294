import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import type { EntryAttempts } from '../../domain/doctor/facts.ts'
import { CannotAsk } from './ask.ts'

/** A running function, as it is reached from here. */
export interface FunctionAddress {
  /** `https://host:port` */
  origin: string
  /** Before the doors; a secret. */
  prefix: string
  /** What the API server calls the host: the name in the certificate. */
  name: string
  ca: string | undefined
  token: string | undefined
  timeoutMs: number
}

export interface FunctionQuestions {
  readiness(): Promise<{ ready: boolean; failing: string[] }>
  metrics(): Promise<string>
  /** The review is harmless: of a dry run, to the door that is pure. */
  entry(review: object): Promise<EntryAttempts>
  close(): Promise<void>
}

export function createFunctionQuestions(address: FunctionAddress): FunctionQuestions {
  const { origin, prefix, name, ca, token, timeoutMs } = address
  const dispatcher = new Agent({
    connect: { ...(ca === undefined ? {} : { ca }), ...(isIP(name) === 0 ? { servername: name } : {}) },
  })
  const proof = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function send(method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: object) {
    const response = await request(`${origin}${path}`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    })
    return { status: response.statusCode, text: await response.body.text() }
  }

  return {
    async readiness() {
      const { text } = await send('GET', '/readyz?verbose', proof)
      const { ready, checks = [] } = parseReadiness(text)
      return { ready, failing: checks.filter(({ ok }) => !ok).map((check) => `${check.name}: ${check.message}`) }
    },
    async metrics() {
      const { status, text } = await send('GET', '/metrics', proof)
      if (status !== 200) throw new CannotAsk(`/metrics is answered ${status}`)
      return text
    },
    async entry(review) {
      const door = '/admission/mutate'
      const { status: withProof } = await send('POST', `${prefix}${door}`, proof, review)
      const without: EntryAttempts['without'] = []
      if (prefix !== '')
        without.push({ proof: 'path prefix', status: (await send('POST', door, proof, review)).status })
      if (token !== undefined)
        without.push({ proof: 'token', status: (await send('POST', `${prefix}${door}`, {}, review)).status })
      return { withProof, without }
    },
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
