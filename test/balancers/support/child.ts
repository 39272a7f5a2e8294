import { type ChildProcess, spawn } from 'node:child_process'

/** A process that can be stopped and killed at any moment, and that ends with the test. */
export interface Child {
  pid: number
  /** Everything that it printed. */
  output(): string
  isRunning(): boolean
  /** Returns when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export interface ChildOptions {
  cwd?: string
  env?: Record<string, string>
}

export function startChild(command: readonly string[], { cwd, env = {} }: ChildOptions = {}): Child {
  const [file = '', ...parameters] = command
  const child = spawn(file, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void chunks.push(String(chunk)))
  child.once('error', (error) => void chunks.push(`${file} does not start: ${error.message}`))
  const dieWithUs = () => void child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  return {
    pid: child.pid ?? 0,
    output: () => chunks.join(''),
    isRunning: () => child.pid !== undefined && !hasEnded(child),
    async end(signal) {
      process.off('exit', dieWithUs)
      if (child.pid === undefined || hasEnded(child)) return
      // Not when its pipes close: a child of its own may still hold them.
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill(signal)
      await ended
    },
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
