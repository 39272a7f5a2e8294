import { readFileSync } from 'node:fs'
import type * as Undici from 'undici'
import { firstToken } from '../../domain/first-token.ts'
import type { Clock } from '../../ports/clock.ts'
import type { HttpOptions } from './http-options.ts'

/** What a request is sent with. */
export interface Connection {
  agent: Undici.Agent
  token: string | undefined
}

// A mounted Secret is replaced by swapping a link, which file watchers miss; a read a second never does.
const LOOK_EVERY_MS = 1_000
const CONNECT_MS = 5_000
// Shorter than our own server's, so that no call is sent into a connection that the other side is closing.
const KEPT_MS = 30_000

type Files = Pick<HttpOptions, 'tokenFile' | 'caFile' | 'clientCertFile' | 'clientKeyFile'>

/** One pool of kept connections, and the token; files are read again when they may have changed. */
export interface Connections {
  /** Rejects when a file cannot be used and never could. */
  current(): Promise<Connection>
  close(): Promise<void>
}

export function createConnections(options: HttpOptions, clock: Clock): Connections {
  let current: { agent: Undici.Agent; texts: Texts; lookedAt: number } | undefined

  function open({ Agent }: typeof Undici, texts: Texts): Undici.Agent {
    return new Agent({
      connections: options.connections,
      pipelining: 1,
      maxResponseSize: options.answerBytes,
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
      // Each call has a deadline of its own, which ends it.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: CONNECT_MS,
        ...(texts.caFile !== undefined && { ca: texts.caFile }),
        ...(texts.clientCertFile !== undefined && { cert: texts.clientCertFile, key: texts.clientKeyFile }),
      },
    })
  }

  function read(): Texts {
    try {
      return readTexts(options)
    } catch (error) {
      // Files are not replaced in one moment: those read last stay good.
      if (current !== undefined) return current.texts
      throw error
    }
  }

  return {
    async current() {
      // Nothing is waited for after it, so that calls at one time have one pool.
      const undici = await import('undici')
      const now = clock.now()
      if (current === undefined || now - current.lookedAt >= LOOK_EVERY_MS) {
        const texts = read()
        const before = current
        const isKept = before !== undefined && sameTls(before.texts, texts)
        current = { agent: isKept ? before.agent : open(undici, texts), texts, lookedAt: now }
        // Calls under way end with the old one.
        if (!isKept) void before?.agent.close().catch(() => undefined)
      }
      return { agent: current.agent, token: current.texts.tokenFile }
    },
    async close() {
      await current?.agent.destroy()
      current = undefined
    },
  }
}

/** What is in the files; of the token file the token. */
type Texts = { [F in keyof Files]?: string }

function readTexts(files: Files): Texts {
  const names = ['tokenFile', 'caFile', 'clientCertFile', 'clientKeyFile'] as const
  return Object.fromEntries(
    names.flatMap((name) => {
      const path = files[name]
      if (path === undefined) return []
      const text = readText(name, path)
      return [[name, name === 'tokenFile' ? tokenIn(text, path) : text]]
    }),
  )
}

function readText(name: keyof Files, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new Error(`provider.options.${name}: ${path} cannot be read (${code})`)
  }
}

/** What a bearer token may consist of (RFC 6750 §2.1). */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/

function tokenIn(text: string, path: string): string {
  const token = firstToken(text)
  if (token === '') throw new Error(`provider.options.tokenFile: ${path} holds no token`)
  if (TOKEN.test(token)) return token
  throw new Error(
    `provider.options.tokenFile: the first line of ${path} is no token: letters, digits and - . _ ~ + / only`,
  )
}

function sameTls(one: Texts, other: Texts): boolean {
  return (['caFile', 'clientCertFile', 'clientKeyFile'] as const).every((name) => one[name] === other[name])
}
