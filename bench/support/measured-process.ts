import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { nodeOnCore } from './on-core.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

export interface ProcessCommand {
  /** Of Node. */
  args: string[]
  env?: Record<string, string>
  folder?: string
  /** The core to stay on; any of them unless given. */
  core?: number
}

/** A Node process with nothing of our environment, whose use of the machine can be read. */
export interface MeasuredProcess {
  pid: number
  usage(): ProcessUsage
  /** Resolves when the port takes connections; rejects when the process ends before. */
  listening(port: number): Promise<void>
  /** What it wrote to stdout, once it has ended; rejects when it failed. */
  output(): Promise<string>
  /** SIGTERM, and SIGKILL to what has not ended in time. */
  stop(patienceMs?: number): Promise<void>
  /** Without waiting for what it would finish. */
  kill(): Promise<void>
}

const PATIENCE_MS = 10_000

export function startMeasured({ args, env = {}, folder, core }: ProcessCommand): MeasuredProcess {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(...nodeOnCore(core, args), {
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(folder === undefined ? {} : { cwd: folder }),
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  let output = ''
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-4_000)
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.off('exit', kill)
      resolve(code)
    })
  })
  const failure = (code: number | null) =>
    new Error(`${args.join(' ')} ended (${code ?? child.signalCode}): ${said}${output.slice(-2_000)}`)
  let over: Error | undefined
  ended.then(
    (code) => {
      over = failure(code)
    },
    (error: Error) => {
      over = error
    },
  )
  const pid = child.pid ?? Number.NaN
  return {
    pid,
    usage: () => usageOf(pid),
    async listening(port) {
      while (!(await takesConnections(port))) {
        if (over !== undefined) throw over
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
    },
    async output() {
      const code = await ended
      if (code !== 0) throw failure(code)
      return output
    },
    async stop(patienceMs = PATIENCE_MS) {
      child.kill('SIGTERM')
      const timer = setTimeout(kill, patienceMs)
      await ended
      clearTimeout(timer)
    },
    async kill() {
      kill()
      await ended
    },
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const conclude = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', conclude(true)).once('error', conclude(false))
  })
}
