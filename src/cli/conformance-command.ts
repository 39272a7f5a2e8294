import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { parse as parseYaml } from 'yaml'
import { createProtocolValidator } from '../adapters/schema/create-protocol-validator.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import type { Node } from '../domain/node.ts'
import { type HttpOptions, parseHttpOptions } from '../providers/http/http-options.ts'
import { createHttpProvider } from '../providers/http/http-provider.ts'
import { createProviderClient } from '../providers/http/provider-client.ts'
import { examineProvider, formatReport } from '../testing/conformance.ts'
import { CommandFailed } from './command-failed.ts'
import type { Command } from './console.ts'
import { UsageError } from './usage-error.ts'

/** Runs the conformance kit over HTTP. Exit code 1 when the provider does not keep its contract. */
export const conformanceCommand: Command = async (args, console) => {
  const { url, tokenFile, ca, level, patienceMs, node, json } = parseConformanceArgs(args)
  const clock = createSystemClock()
  const validate = createProtocolValidator()
  const options = connectionOptions({ url, tokenFile, ca, timeoutMs: patienceMs })
  const asking = createProviderClient(options, validate, clock)
  const { name, ...described } = await asking.describe(AbortSignal.timeout(patienceMs)).catch((error: unknown) => {
    throw new CommandFailed(error instanceof Error ? inOptions(error.message) : String(error))
  })
  await asking.close()
  const { serves: _any, cloud: _none, ...connection } = options
  const whole = { ...connection, ...described }
  const client = createProviderClient(whole, validate, clock)
  try {
    const report = await examineProvider({
      createProvider: () => ({ ...createHttpProvider(whole, client), name }),
      level,
      patienceMs,
      ...(node && { node }),
    })
    console.out(json ? JSON.stringify(report) : formatReport(report))
    return report.passed ? 0 : 1
  } finally {
    await client.close()
  }
}

function parseConformanceArgs(args: string[]) {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'token-file': text,
      ca: text,
      level: { ...text, default: '2' },
      patience: { ...text, default: '10' },
      node: text,
      json: { type: 'boolean', default: false },
    },
  })
  const [url, ...others] = positionals
  if (url === undefined || others.length > 0) throw new UsageError('conformance: give the URL of one provider')
  const { level } = values
  if (level !== '1' && level !== '2') throw new UsageError(`--level: must be 1 or 2, not "${level}"`)
  if (!/^\d{1,4}$/.test(values.patience) || Number(values.patience) === 0 || Number(values.patience) > 600) {
    throw new UsageError(`--patience: must be from 1 to 600 seconds, not "${values.patience}"`)
  }
  return {
    url,
    tokenFile: values['token-file'],
    ca: values.ca,
    level: level === '1' ? (1 as const) : (2 as const),
    patienceMs: Number(values.patience) * 1_000,
    node: values.node === undefined ? undefined : readNode(values.node),
    json: values.json,
  }
}

interface Address {
  url: string
  tokenFile: string | undefined
  ca: string | undefined
  timeoutMs: number
}

const OPTION_OF_FIELD: Readonly<Record<string, string>> = { url: 'URL', tokenFile: '--token-file', caFile: '--ca' }

/** A provider without TLS or token can be examined, too: it says nothing of others. */
function connectionOptions({ url, tokenFile, ca, timeoutMs }: Address): HttpOptions {
  const faults: string[] = []
  const options = {
    url,
    timeoutMs,
    insecure: true,
    serves: { instances: {} },
    cloud: { providerName: 'any', hasClusterID: true },
    ...(tokenFile !== undefined && { tokenFile }),
    ...(ca !== undefined && { caFile: ca }),
  }
  const fault = (field: string, message: string) => void faults.push(`${OPTION_OF_FIELD[field] ?? field}: ${message}`)
  const parsed = parseHttpOptions({ options, fault }, createProtocolValidator())
  if (faults.length > 0) throw new UsageError(faults.join('\n'))
  for (const [option, path] of [
    ['--token-file', tokenFile],
    ['--ca', ca],
  ] as const) {
    if (path !== undefined) readText(option, path)
  }
  return parsed
}

function inOptions(message: string): string {
  return message
    .replaceAll('provider.options.tokenFile', '--token-file')
    .replaceAll('provider.options.caFile', '--ca')
    .replaceAll('provider.options.url', 'the URL')
}

function readNode(path: string): Node {
  const value: unknown = parseYaml(readText('--node', path), { logLevel: 'error' })
  const { kind, metadata }: Partial<Node> = Object(value)
  if (kind !== 'Node' || typeof metadata?.name !== 'string') {
    throw new UsageError(`--node: ${path} holds no Node; kubectl get node NAME -o yaml writes one`)
  }
  return value as Node
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`${option}: ${path} cannot be read (${code})`)
  }
}
