import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ConfigurationFile, FILE_FOLDERS } from './configuration-files.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import { runProgram } from './run-program.ts'

/** HAProxy takes the configuration not; what serves was not touched. */
export class ConfigurationRefused extends Error {}

const CHECK_WITHIN_MS = 60_000

/**
 * Asks HAProxy whether it would start from these files, in a folder beside those that it does start from. Throws
 * `ConfigurationRefused` with what HAProxy says.
 */
export async function checkConfiguration(
  configuration: ConfigurationFile,
  others: readonly ConfigurationFile[],
  { stateDirectory, haproxy, baseConfiguration }: HaproxyOptions,
): Promise<void> {
  const folder = join(stateDirectory, 'check')
  // Where HAProxy will look for them is where the ones in use are.
  const elsewhere = (text: string) =>
    FILE_FOLDERS.reduce(
      (moved, each) => moved.replaceAll(join(stateDirectory, each, '/'), join(folder, each, '/')),
      text,
    )
  const file = join(folder, 'haproxy.cfg')
  try {
    await rm(folder, { recursive: true, force: true })
    for (const each of FILE_FOLDERS) await mkdir(join(folder, each), { recursive: true, mode: 0o700 })
    for (const { path, text } of others) await writeFile(elsewhere(path), elsewhere(text), { mode: 0o600 })
    await writeFile(file, elsewhere(configuration.text), { mode: 0o600 })
    const files = [...(baseConfiguration === undefined ? [] : [baseConfiguration]), file]
    const { code, output } = await runProgram(
      haproxy,
      ['-c', ...files.flatMap((each) => ['-f', each])],
      CHECK_WITHIN_MS,
    )
    if (code === undefined) throw new Error(`${haproxy} -c did not end within ${CHECK_WITHIN_MS} ms`)
    if (code === 0) return
    const said = output.replaceAll(file, configuration.path).replaceAll(folder, stateDirectory)
    throw new ConfigurationRefused(alertsIn(said))
  } finally {
    // Keys are in it.
    await rm(folder, { recursive: true, force: true })
  }
}

const MESSAGE_LIMIT = 600

/** `[ALERT]    (4711) : config : parsing [/…/haproxy.cfg:12] : unknown keyword …` */
function alertsIn(output: string): string {
  const alerts = output
    .split('\n')
    .flatMap((line) => /^\[ALERT\]\s+\(\d+\) : (?:config : )?(.*)$/.exec(line)?.[1] ?? [])
    .filter((line) => !/^(Fatal errors|Error\(s\)) found/.test(line))
  const said = (alerts.length > 0 ? alerts : [output.trim()]).join('; ')
  return said.length > MESSAGE_LIMIT ? `${said.slice(0, MESSAGE_LIMIT)}…` : said
}
