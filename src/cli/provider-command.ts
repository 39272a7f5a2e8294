import { isIP } from 'node:net'
import { parseArgs } from 'node:util'
import { createPinoLogger, type LogLevel } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { loadProvider } from '../compose/load-provider.ts'
import { readConfigFile } from '../compose/load-settings.ts'
import { serveProvider } from '../compose/serve-provider.ts'
import { CatalogueError, isCatalogueError } from '../domain/catalogue-error.ts'
import type { Command } from './console.ts'
import { builtInProviders } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Serves one provider over HTTP until it is told to stop. */
export const providerCommand: Command = async (args, console) => {
  const wanted = parseProviderArgs(args)
  const clock = createSystemClock()
  const logger = createPinoLogger({
    level: wanted.logLevel,
    destination: { write: (line: string) => console.err(line.trimEnd()) },
  })
  const provider = await loadProvider({
    name: wanted.name,
    text: wanted.config === undefined ? '' : readConfigFile(wanted.config),
    registry: builtInProviders(),
    clock,
    logger,
  })
  const interrupted = console.interrupted
  const served = await serveProvider({ ...wanted, provider, clock, logger }).catch((error: unknown) => {
    throw inOptions(error)
  })
  const scheme = wanted.tls === undefined ? 'http' : 'https'
  console.out(`provider ${provider.name} listens at ${scheme}://${inUrl(wanted.host)}:${served.port}`)
  await interrupted
  await served.close()
  return 0
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent']
const BYTES = { fallback: String(16 * 1024 * 1024), least: 1_024, most: 1024 ** 3 }

function parseProviderArgs(args: string[]) {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      config: text,
      listen: { ...text, default: ':9443' },
      'tls-cert': text,
      'tls-key': text,
      'token-file': text,
      insecure: { type: 'boolean', default: false },
      'request-bytes': { ...text, default: BYTES.fallback },
      'answer-bytes': { ...text, default: String(4 * 1024 * 1024) },
      'drain-seconds': { ...text, default: '25' },
      'log-level': { ...text, default: 'info' },
    },
  })
  const [name, ...others] = positionals
  if (name === undefined || others.length > 0)
    throw new UsageError('provider: name one provider, as in wcp provider fake')
  const { host, port } = parseListen(values.listen)
  const { 'tls-cert': certFile, 'tls-key': keyFile, 'token-file': tokenFile } = values
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('provider: --tls-cert and --tls-key belong together: give both')
  }
  const tls = certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile }
  checkSecurity({ tls, tokenFile, host, insecure: values.insecure })
  const logLevel = LEVELS.find((level) => level === values['log-level'])
  if (logLevel === undefined) throw new UsageError(`--log-level: must be one of ${LEVELS.join(', ')}`)
  return {
    name,
    config: values.config,
    host,
    port,
    tls,
    tokenFile,
    limits: {
      requestBytes: wholeNumber('--request-bytes', values['request-bytes'], BYTES.least, BYTES.most),
      answerBytes: wholeNumber('--answer-bytes', values['answer-bytes'], BYTES.least, BYTES.most),
    },
    drainMs: 1_000 * wholeNumber('--drain-seconds', values['drain-seconds'], 0, 600),
    logLevel,
  }
}

/** Keys of certificates come this way, and whoever calls moves traffic. */
function checkSecurity(given: { tls: unknown; tokenFile: string | undefined; host: string; insecure: boolean }): void {
  const { tls, tokenFile, host, insecure } = given
  if (insecure) {
    if (isLoopback(host)) return
    throw new UsageError(
      `provider: --insecure is for a loopback address only, as in --listen 127.0.0.1:9443, not ${host}`,
    )
  }
  if (tls === undefined) throw new UsageError('provider: give --tls-cert and --tls-key; `wcp certs` makes them')
  if (tokenFile === undefined) {
    throw new UsageError('provider: give --token-file, a file with one token a line; `openssl rand -hex 32` makes one')
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** `:9443`, `10.0.0.7:9443`, `[::1]:9443`. */
function parseListen(text: string): { host: string; port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? (plain === '' ? '::' : plain)
  if (host === undefined || Number(port) > 65_535) {
    throw new UsageError(`--listen: "${text}" is not an address and a port, such as :9443 or 10.0.0.7:9443`)
  }
  return { host, port: Number(port) }
}

function inUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}

function wholeNumber(option: string, text: string, least: number, most: number): number {
  const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new UsageError(`${option}: must be a whole number from ${least} to ${most}, not "${text}"`)
}

const OPTION_OF_FIELD: Readonly<Record<string, string>> = {
  'server.tls.certFile': '--tls-cert',
  'server.tls.keyFile': '--tls-key',
  'server.port': '--listen',
}

/** The same fault, under the name that was given here. */
function inOptions(error: unknown): unknown {
  if (!isCatalogueError(error) || error.field === undefined) return error
  const option = OPTION_OF_FIELD[error.field]
  if (option === undefined) return error
  const message = error.message.replace(`${error.field}: `, `${option}: `)
  return new CatalogueError(error.code, message, { field: option, cause: error.cause })
}
