import { spawn } from 'node:child_process'

export interface LeafCommand {
  args: string[]
  folder: string
  env: Record<string, string>
}

/** A leaf in a process of its own, with nothing of our environment. */
export interface LeafProcess {
  /** Rejects when the process ends before it is stopped, with what it said. */
  failed: Promise<never>
  /** SIGTERM, and SIGKILL to what does not heed it; resolves with the exit code. */
  stop(): Promise<number | null>
  /** What it said of late. */
  output(): string
  /** As a log collector that went. */
  closeOutput(): void
}

const PATIENCE_MS = 10_000

export function startLeafProcess({ args, folder, env }: LeafCommand): LeafProcess {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000)
    })
  }
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
  const failed = ended.then((code): never => {
    throw new Error(`the leaf ended (${code ?? child.signalCode}): ${said}`)
  })
  failed.catch(() => {})
  return {
    failed,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
      const code = await ended
      clearTimeout(timer)
      return code
    },
    output: () => said,
    closeOutput() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
  }
}
