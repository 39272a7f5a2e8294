import type { Agent } from 'undici'

export interface JsonSource {
  /** PEM; the system's own when absent. */
  ca?: string
  /** A bearer token that the issuer asks for, read anew for each request. */
  tokenFile?: string
}

/** An API server answers 406 to whoever does not ask for the second when it wants the keys. */
const JSON_TYPES = 'application/json, application/jwk-set+json'
const TIMEOUT_MS = 5_000
const LARGEST = 256 * 1024

/** Reads one JSON document over HTTPS. Follows no redirect, waits five seconds at most, takes 256 KiB at most. */
export function createJsonFetcher({ ca, tokenFile }: JsonSource): (url: string) => Promise<unknown> {
  let dispatcher: Agent | undefined
  return async (url) => {
    if (!url.startsWith('https://')) throw new Error('not an https URL')
    const [{ readFile }, { Agent, request }] = await Promise.all([import('node:fs/promises'), import('undici')])
    // Asked a few times an hour: without pipelining undici keeps no connection.
    dispatcher ??= new Agent({
      pipelining: 0,
      maxResponseSize: LARGEST,
      ...(ca === undefined ? {} : { connect: { ca } }),
    })
    const authorization = tokenFile && { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` }
    const { statusCode, body } = await request(url, {
      dispatcher,
      headers: { accept: JSON_TYPES, ...authorization },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`answered HTTP ${statusCode}`)
    return JSON.parse(text)
  }
}
