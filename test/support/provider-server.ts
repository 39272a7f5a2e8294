import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createProtocolValidator } from '../../src/adapters/schema/create-protocol-validator.ts'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import { serveProvider } from '../../src/compose/serve-provider.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Logger } from '../../src/ports/logger.ts'
import { describeProvider } from '../../src/provider/protocol/describe-provider.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { type HttpOptions, parseHttpOptions } from '../../src/providers/http/http-options.ts'
import { createHttpProvider } from '../../src/providers/http/http-provider.ts'
import { createProviderClient, type ProviderClient } from '../../src/providers/http/provider-client.ts'
import { silentLogger } from './silent-logger.ts'
import { createTestAuthority } from './test-authority.ts'

export interface ProviderFiles {
  folder: string
  certFile: string
  keyFile: string
  caFile: string
  tokenFile: string
  token: string
  /** Another certificate of this authority, or of a new one. */
  reissue(authority: 'same' | 'new'): Promise<void>
}

/** What both sides need on disk: a certificate for localhost, its authority, and a token. */
export async function providerFiles(t: Test): Promise<ProviderFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'provider-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const at = (name: string) => join(folder, name)
  const token = randomBytes(24).toString('hex')
  let authority = await createTestAuthority()
  const files = { certFile: at('tls.crt'), keyFile: at('tls.key'), caFile: at('ca.crt'), tokenFile: at('token') }
  const reissue = async (which: 'same' | 'new') => {
    if (which === 'new') authority = await createTestAuthority('next')
    const { cert, key } = await authority.issue({
      commonNames: ['localhost'],
      alternatives: [
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ],
      usage: 'server',
    })
    writeFileSync(files.certFile, cert)
    writeFileSync(files.keyFile, key)
    writeFileSync(files.caFile, authority.caPem)
  }
  await reissue('same')
  writeFileSync(files.tokenFile, `${token}\n`)
  return { folder, ...files, token, reissue }
}

export interface RemoteOptions {
  /** In place of what fits. */
  options?: Record<string, unknown>
  limits?: { requestBytes: number; answerBytes: number }
  drainMs?: number
  serverClock?: Clock
  clientClock?: Clock
  logger?: Logger
}

/** A provider behind TLS and a token, and the provider `http` that calls it. */
export interface Remote {
  url: string
  files: ProviderFiles
  /** As the function has it. */
  provider: Provider
  client: ProviderClient
  stop(): Promise<void>
  /** A request as anybody could send it. */
  send(
    path: string,
    init?: { method?: string; headers?: Record<string, string>; body?: string },
  ): Promise<{
    status: number
    headers: Record<string, string>
    body: string
  }>
}

export async function serveRemotely(t: Test, behind: Provider, given: RemoteOptions = {}): Promise<Remote> {
  const files = await providerFiles(t)
  const served = await serveProvider({
    provider: behind,
    host: '127.0.0.1',
    port: 0,
    tls: files,
    tokenFile: files.tokenFile,
    limits: given.limits ?? { requestBytes: 16 * 1024 * 1024, answerBytes: 4 * 1024 * 1024 },
    drainMs: given.drainMs ?? 5_000,
    clock: given.serverClock ?? createSystemClock(),
    logger: given.logger ?? silentLogger,
  })
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= served.close()
    return stopping
  }
  const url = `https://127.0.0.1:${served.port}`
  const { client, provider } = clientOf(
    t,
    behind,
    {
      url,
      caFile: files.caFile,
      tokenFile: files.tokenFile,
      ...given.options,
    },
    given.clientClock,
  )
  t.teardown(stop)
  return { url, files, provider, client, stop, send: (path, init) => send(`${url}${path}`, files, init) }
}

/** The provider `http` with these options, configured for what `behind` does. */
export function clientOf(
  t: Test,
  behind: Provider,
  options: Record<string, unknown>,
  clock: Clock = createSystemClock(),
): { client: ProviderClient; provider: Provider } {
  const { name: _name, ...described } = describeProvider(behind)
  const parsed = parsedOptions({ ...described, ...options })
  const client = createProviderClient(parsed, createProtocolValidator(), clock)
  t.teardown(() => client.close())
  return { client, provider: createHttpProvider(parsed, client) }
}

export function parsedOptions(options: Record<string, unknown>): HttpOptions {
  const faults: string[] = []
  const fault = (field: string, message: string) => void faults.push(`${field}: ${message}`)
  const parsed = parseHttpOptions({ options, fault }, createProtocolValidator())
  if (faults.length > 0) throw new TypeError(faults.join('; '))
  return parsed
}

async function send(
  url: string,
  { caFile }: ProviderFiles,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
) {
  const { Agent, request } = await import('undici')
  const { readFileSync } = await import('node:fs')
  const dispatcher = new Agent({ connect: { ca: readFileSync(caFile) } })
  try {
    const response = await request(url, {
      method: method as 'POST',
      headers,
      dispatcher,
      ...(body === undefined ? {} : { body }),
    })
    const all = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const)
    return { status: response.statusCode, headers: Object.fromEntries(all), body: await response.body.text() }
  } finally {
    await dispatcher.destroy()
  }
}
