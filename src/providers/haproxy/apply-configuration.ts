import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../ports/logger.ts'
import { checkBinds } from './check-binds.ts'
import { ConfigurationRefused, checkConfiguration } from './check-configuration.ts'
import {
  configurationFile,
  differingFiles,
  namedFiles,
  readText,
  removeStaleFiles,
  restoreFiles,
  writeFiles,
} from './configuration-files.ts'
import type { HaproxyMaster } from './haproxy-master.ts'
import type { HaproxyOptions } from './haproxy-options.ts'
import type { HaproxyRuntime } from './haproxy-runtime.ts'
import { HaproxyUnreachable } from './haproxy-socket.ts'
import { generationIn } from './render-configuration.ts'
import type { RenderedConfiguration } from './rendered-configuration.ts'
import { updateRunningFiles } from './running-files.ts'
import type { RunningServer } from './running-server.ts'
import { isAsRendered, leavingServers, removalCommands, serverCommands } from './runtime-commands.ts'

export interface Haproxy {
  options: HaproxyOptions
  runtime: HaproxyRuntime
  master: HaproxyMaster
  logger: Logger
}

export interface Applied {
  /** How HAProxy was brought there. */
  by: 'nothing' | 'runtime' | 'reload'
  /** Servers that nobody wants any more and that finish what they have. */
  leaving: number
}

/**
 * Makes files and process what is rendered, from whatever they are: nothing is remembered, all is looked at. Throws
 * `ConfigurationRefused` where HAProxy does not take it, `HaproxyUnreachable` where it cannot be asked; files and process
 * then are what they were.
 */
export async function applyConfiguration(rendered: RenderedConfiguration, haproxy: Haproxy): Promise<Applied> {
  const { options, runtime, logger } = haproxy
  // Whoever does not answer is not written for.
  const generation = await runtime.generation()
  const configuration = configurationFile(rendered, options)
  const named = namedFiles(rendered)
  // The configuration last: it names the others.
  const differing = await differingFiles([...named, configuration])
  if (differing.length > 0) await checkConfiguration(configuration, named, options)
  if (generation !== rendered.generation) await checkBinds(rendered.text, await runningText(options, generation))
  try {
    await writeFiles(differing)
    const renewed = new Set(differing.map(({ path }) => path))
    const applied = await applyToProcess(rendered, renewed, haproxy)
    await removeStaleFiles(named, options.stateDirectory)
    return applied
  } catch (error) {
    await restoreFiles(differing).catch((failure) =>
      logger.warn({ error: String(failure) }, 'files could not be put back; the next call does'),
    )
    throw error
  }
}

/** The file, where it is what the worker was started with. */
async function runningText(options: HaproxyOptions, generation: string | undefined): Promise<string | undefined> {
  const text = await readText(options.configurationFile)
  return text !== undefined && generationIn(text) === generation ? text : undefined
}

/**
 * Where HAProxy does not answer it may be that it cannot start: there is no file yet, as on a new machine, or somebody
 * spoiled one. So they are made what is recorded. One that was started with nothing runs and has no socket for us; it is
 * told to read the file.
 */
export async function prepareStart(recorded: RenderedConfiguration, haproxy: Haproxy): Promise<void> {
  const configuration = configurationFile(recorded, haproxy.options)
  const before = await readText(configuration.path)
  await writeFiles(await differingFiles([...namedFiles(recorded), configuration]))
  if (before === undefined || before.trim() === '') await unlessUnreachable(() => reload(recorded, haproxy))
}

async function applyToProcess(
  rendered: RenderedConfiguration,
  renewed: ReadonlySet<string>,
  haproxy: Haproxy,
): Promise<Applied> {
  const { runtime } = haproxy
  if ((await runtime.generation()) !== rendered.generation) return reload(rendered, haproxy)
  const files = await updateRunningFiles(rendered, renewed, runtime)
  if (files === 'impossible') return reload(rendered, haproxy)
  const serversChanged = await updateServers(rendered, haproxy)
  const left = await removeLeavingServers(rendered, runtime)
  if (left === undefined) return reload(rendered, haproxy)
  return { by: files === 'updated' || serversChanged ? 'runtime' : 'nothing', leaving: left }
}

async function updateServers(rendered: RenderedConfiguration, { runtime, logger }: Haproxy): Promise<boolean> {
  const running = byBackend(await runtime.servers())
  const commands = rendered.backends.flatMap((backend) => serverCommands(backend, running.get(backend.name) ?? []))
  for (const command of commands) {
    const said = await runtime.tell(command)
    if (said !== '' && !/^New server registered/.test(said))
      logger.debug({ command, said }, 'HAProxy answered a command')
  }
  return commands.length > 0
}

/** How many are still there; undefined where what runs is not what was asked for. */
async function removeLeavingServers(
  { backends }: RenderedConfiguration,
  runtime: HaproxyRuntime,
): Promise<number | undefined> {
  const running = byBackend(await runtime.servers())
  const of = (name: string) => running.get(name) ?? []
  if (!backends.every((backend) => isAsRendered(backend, of(backend.name)))) return undefined
  const leaving = backends.filter((backend) => leavingServers(backend, of(backend.name)).length > 0)
  if (leaving.length === 0) return 0
  const connections = await runtime.connections()
  for (const backend of leaving) {
    for (const command of removalCommands(backend, of(backend.name), connections)) await runtime.tell(command)
  }
  const left = byBackend(await runtime.servers(leaving.map(({ name }) => name)))
  return leaving.reduce((sum, backend) => sum + leavingServers(backend, left.get(backend.name) ?? []).length, 0)
}

const RELOADED_WITHIN_MS = 30_000
const LOOK_EVERY_MS = 20

async function reload(rendered: RenderedConfiguration, { master, runtime, options }: Haproxy): Promise<Applied> {
  const before = await master.reloads()
  await master.reload()
  for (const until = Date.now() + RELOADED_WITHIN_MS; Date.now() < until; await pause(LOOK_EVERY_MS)) {
    const now = await unlessUnreachable(() => master.reloads())
    // While it starts itself anew the master does not answer.
    if (now === undefined || now.told === before.told) continue
    if (now.failed > 0) {
      throw new ConfigurationRefused(
        'HAProxy found no fault in it and could not start with it: most often a port is taken by another program; its ' +
          'log says which',
      )
    }
    if ((await unlessUnreachable(() => isRunning(rendered, runtime))) === true) return { by: 'reload', leaving: 0 }
  }
  throw new HaproxyUnreachable(
    `HAProxy did not come back within ${RELOADED_WITHIN_MS / 1_000} s of a reload; look at its log and at ${options.masterSocket}`,
  )
}

async function isRunning({ generation, backends }: RenderedConfiguration, runtime: HaproxyRuntime): Promise<boolean> {
  if ((await runtime.generation()) !== generation) return false
  const running = byBackend(await runtime.servers())
  return backends.every((backend) => isAsRendered(backend, running.get(backend.name) ?? []))
}

async function unlessUnreachable<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof HaproxyUnreachable) return undefined
    throw error
  }
}

function byBackend(servers: readonly RunningServer[]): Map<string, RunningServer[]> {
  return Map.groupBy(servers, ({ backend }) => backend)
}
