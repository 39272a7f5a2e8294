import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
import { firstToken } from '../domain/first-token.ts'
import type { Answer } from './check-answer.ts'
import { CommandFailed } from './command-failed.ts'
import { UsageError } from './usage-error.ts'

export interface FunctionRequest {
  method: string
  path: string
  headers?: Record<string, string>
  body?: Buffer
}

/** Calls a running function. */
export interface FunctionClient {
  /** Throws `CommandFailed` when there is no answer. */
  send(request: FunctionRequest): Promise<Answer>
  close(): Promise<void>
}

/** The options of commands that call a function. */
export interface FunctionAddress {
  url: string
  /** A file with the authority of the function's certificate. */
  ca: string | undefined
  /** A file with the bearer token that the function asks for. */
  tokenFile: string | undefined
}

/** Reads the files at once. Throws `UsageError`. */
export function createFunctionClient({ url, ca, tokenFile }: FunctionAddress): FunctionClient {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new UsageError(`--url: "${url}" is not an http or https URL`)
  }
  const base = url.replace(/\/$/, '')
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca: readText('--ca', ca) } })
  const credential = tokenFile === undefined ? {} : authorization(readText('--token-file', tokenFile))
  return {
    async send({ method, path, headers = {}, body }) {
      try {
        const all = { ...headers, ...credential }
        const options = { method: method as 'POST', headers: all, dispatcher, ...(body === undefined ? {} : { body }) }
        const response = await request(`${base}${path}`, options)
        return { status: response.statusCode, headers: textHeaders(response.headers), body: await response.body.text() }
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : 'no answer'
        // Without its path, which may be a secret.
        const { origin } = new URL(base)
        throw new CommandFailed(`the function at ${origin} cannot be reached (${code})`, { cause: error })
      }
    },
    close: () => dispatcher.destroy(),
  }
}

/** Lists of values as one text; absent ones stay absent. */
export function textHeaders(headers: Record<string, unknown>): Record<string, string | undefined> {
  const entries = Object.entries(headers)
  return Object.fromEntries(entries.map(([name, value]) => [name, value === undefined ? undefined : String(value)]))
}

function authorization(text: string): Record<string, string> {
  const token = firstToken(text)
  if (token === '') throw new UsageError('--token-file: the file holds no token')
  return { authorization: `Bearer ${token}` }
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`${option}: ${path} cannot be read (${code})`)
  }
}
