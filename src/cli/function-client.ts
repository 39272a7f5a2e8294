import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'
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

/** `--url` and `--ca`, the file with the authority of the function's certificate. Throws `UsageError`. */
export function createFunctionClient({ url, ca }: { url: string; ca: string | undefined }): FunctionClient {
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new UsageError(`--url: "${url}" is not an http or https URL`)
  }
  const base = url.replace(/\/$/, '')
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca: readAuthority(ca) } })
  return {
    async send({ method, path, headers = {}, body }) {
      try {
        const options = { method: method as 'POST', headers, dispatcher, ...(body === undefined ? {} : { body }) }
        const response = await request(`${base}${path}`, options)
        return { status: response.statusCode, headers: textHeaders(response.headers), body: await response.body.text() }
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : 'no answer'
        throw new CommandFailed(`the function at ${base} cannot be reached (${code})`, { cause: error })
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

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`--ca: ${path} cannot be read (${code})`)
  }
}
