import type { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../../ports/clock.ts'
import { createCredentialSource } from './credentials.ts'
import { exchange } from './exchange.ts'

export interface ApiReply {
  status: number
  /** Undefined when it was not JSON. */
  body: unknown
  /** The API server's warnings, those of webhooks among them. */
  warnings: string[]
}

/** Single requests to the API server in its own words, for what is no object of ours. */
export interface ApiCaller {
  /** Rejects when there is no answer, or no credentials. */
  call(method: 'GET' | 'POST', path: string, body?: object): Promise<ApiReply>
  close(): Promise<void>
}

export interface ApiCallerOptions {
  timeoutMs: number
  clock: Clock
  /** Ask as this user; the kubeconfig's own must be allowed to impersonate. */
  impersonate?: string
}

export function createApiCaller(config: KubeConfig, { timeoutMs, clock, impersonate }: ApiCallerOptions): ApiCaller {
  const credentials = createCredentialSource(config, clock)
  return {
    async call(method, path, body) {
      const headers = {
        accept: 'application/json',
        ...(impersonate === undefined ? {} : { 'impersonate-user': impersonate }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      }
      const content = body === undefined ? {} : { body: JSON.stringify(body) }
      const request = { method, path, headers, ...content }
      const response = await exchange(await credentials.current(), request, { timeoutMs })
      const warnings = warningsIn(response.headers['warning'])
      return { status: response.statusCode, body: parseJson(response.text), warnings }
    },
    close: () => credentials.close(),
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `299 - "text"`, several in one header or each in its own. */
function warningsIn(header: string | string[] | undefined): string[] {
  return [header ?? []]
    .flat()
    .flatMap((value) => [...value.matchAll(/\b\d{3} \S+ "((?:[^"\\]|\\.)*)"/g)])
    .map(([, text = '']) => text.replace(/\\(.)/g, '$1'))
}
