import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createSystemClock } from '../../src/adapters/system/system-clock.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { haproxyProviderFactory } from '../../src/providers/haproxy/haproxy-provider.ts'
import { askHaproxy } from '../../src/providers/haproxy/haproxy-socket.ts'
import { silentLogger } from './silent-logger.ts'

const PROGRAM = '/usr/sbin/haproxy'

/** A real HAProxy in a folder of its own, as a provider configures it; stopped at first. */
export interface TestHaproxy {
  stateDirectory: string
  /** What it is started with. */
  file: string
  options: Record<string, unknown>
  /** A provider that knows nothing but the files: like an agent after its restart. */
  provider(): Provider
  start(): Promise<void>
  /** With an empty file, so without a socket for anybody but its master's. */
  startEmpty(): Promise<void>
  /** Without a word, workers too. */
  kill(): Promise<void>
  /** One command to the worker. */
  ask(command: string): Promise<string>
  /** Reloads so far. */
  reloads(): Promise<number>
  configuration(): string
  close(): Promise<void>
}

/** Why the real one cannot be tried, and what to do; undefined where it can. In CI a missing one is a failure. */
export function haproxyMissing(environment: NodeJS.ProcessEnv): string | undefined {
  const found = spawnSync(PROGRAM, ['-v']).status === 0
  if (found || environment['CI'] !== undefined) return undefined
  return 'haproxy is not installed: apt-get install -y haproxy'
}

export function createTestHaproxy(more: Record<string, unknown> = {}): TestHaproxy {
  const directory = mkdtempSync(join(tmpdir(), 'haproxy-'))
  const runtimeSocket = join(directory, 'run.sock')
  const masterSocket = join(directory, 'master.sock')
  const options = {
    stateDirectory: join(directory, 'state'),
    runtimeSocket,
    masterSocket,
    haproxy: PROGRAM,
    hardStopAfterSeconds: 5,
    ...more,
  }
  const file = join(options.stateDirectory, 'haproxy.cfg')
  let master: ChildProcess | undefined
  let log = ''

  const start = () => startAndAnswerOn(runtimeSocket, 'show info')

  async function startAndAnswerOn(socket: string, command: string): Promise<void> {
    const base = typeof more['baseConfiguration'] === 'string' ? ['-f', more['baseConfiguration']] : []
    const own = spawn(PROGRAM, ['-W', '-S', `${masterSocket},mode,600`, ...base, '-f', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    master = own
    for (const stream of [own.stdout, own.stderr]) stream?.on('data', (chunk) => (log += chunk))
    for (let left = 200; left > 0; left -= 1) {
      await pause(25)
      if (await askHaproxy(socket, command).then(Boolean, () => false)) return
      if (own.exitCode !== null) break
    }
    throw new Error(`HAProxy did not start: ${log}`)
  }

  async function kill(): Promise<void> {
    const own = master
    master = undefined
    if (own?.pid === undefined || own.exitCode !== null) return
    const ended = new Promise((resolve) => own.once('exit', resolve))
    // It leads a process group of its own, with all workers in it.
    process.kill(-own.pid, 'SIGKILL')
    await ended
  }

  return {
    stateDirectory: options.stateDirectory,
    file,
    options,
    start,
    async startEmpty() {
      mkdirSync(options.stateDirectory, { mode: 0o700 })
      writeFileSync(file, '')
      await startAndAnswerOn(masterSocket, 'show proc;quit')
    },
    kill,
    provider: () =>
      haproxyProviderFactory({
        options,
        fault: (field, message) => {
          throw new Error(`${field}: ${message}`)
        },
        logger: silentLogger,
        clock: createSystemClock(),
      }),
    ask: (command) => askHaproxy(runtimeSocket, command),
    async reloads() {
      const [, told] = /master\s+(\d+)/.exec(await askHaproxy(masterSocket, 'show proc;quit')) ?? []
      return Number(told)
    },
    configuration: () => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
    async close() {
      await kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
