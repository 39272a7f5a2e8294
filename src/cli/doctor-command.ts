import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createPinoLogger } from '../adapters/logging/pino-logger.ts'
import { createSystemClock } from '../adapters/system/system-clock.ts'
import { type DoctorOptions, gatherFacts } from '../compose/doctor/gather-facts.ts'
import { loadConfig, loadSettings, readConfigFile } from '../compose/load-settings.ts'
import { isCatalogueError } from '../domain/catalogue-error.ts'
import { diagnose } from '../domain/doctor/diagnose.ts'
import { DOORS } from '../domain/door.ts'
import { firstToken } from '../domain/first-token.ts'
import type { Command, Console } from './console.ts'
import { printDiagnosis } from './print-diagnosis.ts'
import { builtInProviders } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Examines an installation. Exit code 0: it works; 1: something is red, or with `--strict` yellow. */
export const doctorCommand: Command = async (args, console) => {
  const { options, output, strict } = await readArguments(args, console)
  const diagnosis = diagnose(await gatherFacts(options))
  console.out(
    output === 'json' ? JSON.stringify({ version: 1, ...diagnosis }, undefined, 2) : printDiagnosis(diagnosis),
  )
  return diagnosis.state === 'red' || (strict && diagnosis.state === 'yellow') ? 1 : 0
}

async function readArguments(args: string[], console: Console) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args,
    options: {
      config: text,
      kubeconfig: text,
      url: text,
      ca: text,
      'token-file': { ...text, multiple: true, default: [] },
      namespace: { ...text, default: 'default' },
      output: { ...text, short: 'o', default: 'text' },
      strict: { type: 'boolean', default: false },
    },
  })
  const { config, kubeconfig, url, ca, 'token-file': tokenFiles, namespace, output, strict } = values
  if (output !== 'text' && output !== 'json') throw new UsageError(`--output: "${output}" is not text or json`)
  if (url !== undefined && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    throw new UsageError(`--url: "${url}" is not an http or https URL`)
  const configFile = config ?? console.env['WCP_CONFIG']
  if (configFile === undefined)
    throw new UsageError('doctor: give the configuration file with --config FILE or WCP_CONFIG')
  const options: DoctorOptions = {
    ...(await settingsFrom(configFile, console, kubeconfig !== undefined)),
    namespace,
    tokens: readTokens(tokenFiles),
    clock: createSystemClock(),
    ...(kubeconfig === undefined ? {} : { operator: { kind: 'file', path: kubeconfig } }),
    ...(url === undefined ? {} : { url }),
    ...(ca === undefined ? {} : { ca: readText('--ca', ca) }),
  }
  return { options, output, strict }
}

// Where the function's credentials are is not here.
const ELSEWHERE = '/where/the/function/runs'

/** Of a provider that another program registers, nothing is known here; the rest can be examined all the same. */
async function settingsFrom(
  configFile: string,
  { env }: Console,
  hasOperator: boolean,
): Promise<Pick<DoctorOptions, 'config' | 'provider'>> {
  const text = readConfigFile(configFile)
  // What the platform tells the function is not told here (it sends no work, so no sink is missed), and an operator's
  // own KUBECONFIG is not the function's.
  const environment = { KUBECONFIG: hasOperator ? ELSEWHERE : env['KUBECONFIG'], K_SINK: 'http://nobody.invalid' }
  try {
    const clock = createSystemClock()
    const createLogger = () => createPinoLogger({ level: 'silent', destination: { write: () => {} } })
    const { config, provider } = await loadSettings({
      text,
      environment,
      registry: builtInProviders(),
      clock,
      createLogger,
    })
    return { config, provider }
  } catch (error) {
    if (!isCatalogueError(error, 'ProviderUnknown')) throw error
    return { config: loadConfig(text, environment), provider: undefined }
  }
}

/** `DOOR=FILE`, or a file for every door that has no other. */
function readTokens(files: readonly string[]): DoctorOptions['tokens'] {
  return Object.fromEntries(
    files.map((file) => {
      const door = DOORS.find((each) => file.startsWith(`${each}=`))
      const path = door === undefined ? file : file.slice(door.length + 1)
      const token = firstToken(readText('--token-file', path))
      if (token === '') throw new UsageError(`--token-file: ${path} holds no token`)
      return [door ?? 'any', token]
    }),
  )
}

function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new UsageError(`${option}: ${path} cannot be read (${code})`)
  }
}
