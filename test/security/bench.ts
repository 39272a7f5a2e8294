import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { inspect } from 'node:util'
import type { JWTPayload } from 'jose'
import { createPinoLogger } from '../../src/adapters/logging/pino-logger.ts'
import { buildIngress, buildService } from '../support/build-objects.ts'
import { createTestAuthority, type TestAuthority } from '../support/test-authority.ts'
import { startTestIssuer, type TestIssuer } from '../support/test-issuer.ts'
import { createWorld, type World } from '../support/world.ts'

export const AUDIENCE = 'wcp.lb-system.example.com'
export const BROKER = 'system:serviceaccount:lb-system:work-oidc-eventing.knative.dev-trigger'

/** A guarded function that serves two objects, on a real socket, with everything an attacker may want to try on. */
export interface Bench {
  world: World
  authority: TestAuthority
  issuer: TestIssuer
  /** The secret path before every door. */
  prefix: string
  tokens: Record<'admission' | 'events' | 'sweep' | 'rotated', string>
  /** An address that nothing may ever call. */
  canary: { url: string; calls: () => number }
  /** What must never be seen anywhere; tokens that are made on the way are added. */
  secrets: Set<string>
  /** Signs a token of the issuer: the one that the Broker would send, with these claims instead. */
  jwt(claims?: JWTPayload, header?: { kid?: string; alg?: string }): Promise<string>
  /** Sends these bytes on one connection and answers all that comes back until it is closed, or nothing comes for a while. */
  raw(bytes: string | Buffer | readonly (string | Buffer)[], options?: ConnectionOptions): Promise<string>
  /** Lets slow requests be slow for a second only. */
  impatient<T>(action: () => Promise<T>): Promise<T>
  /** Everything that is stored, made or waiting. */
  state(): string
  /** As they are written, and with everything that was handed to the logger before anything is taken out. */
  logLines(): string[]
  close(): Promise<void>
}

export async function startBench(): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'security-'))
  const [authority, canary] = [await createTestAuthority(), await startCanary()]
  const issuer = await startTestIssuer(authority)
  await issuer.addKey('k1')
  const secret = () => randomBytes(24).toString('base64url')
  const tokens = { admission: secret(), events: secret(), sweep: secret(), rotated: secret() }
  const prefix = `/${secret()}`
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const serving = await authority.issue({
    commonNames: ['function'],
    alternatives: [{ type: 'ip', value: '127.0.0.1' }],
    usage: 'server',
  })
  const world = createWorld({
    // No balancer's turn to be verified comes by chance.
    config: `sweep: { intervalMs: 1, periodMs: 86400000 }\nserver: ${JSON.stringify({ pathPrefix: prefix, tls: { certFile: 'c', keyFile: 'k', clientCaFile: 'a' } })}`,
    certificate: () => ({ ...serving, clientCa: authority.caPem, notAfter: Number.POSITIVE_INFINITY }),
    callers: `callers: ${JSON.stringify({
      admission: { tokenFile: file('admission', tokens.admission), clientSubjects: ['kube-apiserver'] },
      events: {
        tokenFile: file('events', `${tokens.rotated}\n${tokens.events}\n`),
        oidc: {
          issuer: issuer.url,
          audience: AUDIENCE,
          subjects: [BROKER],
          caFile: file('ca.pem', authority.caPem),
        },
      },
      sweep: { tokenFile: file('sweep', tokens.sweep) },
    })}`,
  })
  file('events', tokens.events)
  await world.create(buildIngress())
  await world.create(buildService())
  await world.runtime.doors.sweep({ scope: 'all' }, new AbortController().signal)
  await world.clock.advance(60_000)
  const { server } = world.runtime.app
  await world.runtime.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.address() as AddressInfo
  const secrets = new Set([...Object.values(tokens), prefix, prefix.slice(1), serving.key])

  return {
    world,
    authority,
    issuer,
    prefix,
    tokens,
    canary,
    secrets,
    async jwt(claims = {}, header = {}) {
      const now = Math.floor(world.clock.now() / 1_000)
      const usual = { aud: [AUDIENCE], sub: BROKER, iat: now, exp: now + 600 }
      const token = await issuer.sign({ ...usual, ...claims }, header)
      secrets.add(token)
      return token
    },
    raw: (bytes, options = {}) =>
      exchange([bytes].flat(), { host: '127.0.0.1', port, ca: authority.caPem, ...options }),
    async impatient(action) {
      const usual = { headersTimeout: server.headersTimeout, requestTimeout: server.requestTimeout }
      Object.assign(server, { headersTimeout: 1_000, requestTimeout: 1_000 })
      try {
        return await action()
      } finally {
        Object.assign(server, usual)
      }
    },
    state() {
      const { core, cloud, handed, runtime } = world
      const writes = handed.filter(({ method }) => method !== 'get').length
      const balancers = cloud.balancers()
      return JSON.stringify({ stored: core.resourceVersion(), balancers, writes, queued: runtime.queue.size() })
    },
    logLines() {
      const lines: string[] = []
      const pino = createPinoLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
      for (const { level, fields, message } of world.logs) pino[level as LogLevel]({ ...fields }, message)
      return [...lines, ...world.logs.map((line) => inspect(line, { depth: 12, maxStringLength: null }))]
    },
    async close() {
      await world.runtime.app.close()
      await issuer.close()
      await canary.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error'

async function startCanary() {
  let calls = 0
  const server = createServer((_request, response) => response.end())
  server.on('connection', () => {
    calls += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, calls: () => calls, close: () => new Promise((resolve) => server.close(resolve)) }
}

/** An answer is over when the server closes, or has said nothing more for this long. */
const SILENCE_MS = 400
const PATIENCE_MS = 10_000

export async function exchange(parts: (string | Buffer)[], options: ConnectionOptions): Promise<string> {
  const socket: TLSSocket = connect(options)
  const chunks: Buffer[] = []
  let fault = ''
  return new Promise((resolve) => {
    let timer = setTimeout(() => socket.destroy(), PATIENCE_MS)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(() => socket.destroy(), SILENCE_MS)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      fault = error.code ?? error.message
    })
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(chunks.length > 0 ? Buffer.concat(chunks).toString('latin1') : `(${fault || 'closed'})`)
    })
    socket.on('secureConnect', () => {
      for (const part of parts) if (!socket.destroyed) socket.write(part)
    })
  })
}
