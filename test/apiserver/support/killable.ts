import { type ChildProcess, spawn } from 'node:child_process'

/** A Node process of ours that can be killed at any moment. */
export interface Killable {
  /** Everything it printed. */
  output(): string
  /** As the system kills: nothing is finished, nothing is said. */
  kill(): Promise<void>
  /** Stands still, as on a machine that is short of memory or suspended, until it is thawed. */
  freeze(): void
  thaw(): void
}

export function startKillable(file: string, parameters: readonly string[]): Killable {
  const child = spawn(process.execPath, [file, ...parameters], { stdio: ['ignore', 'pipe', 'pipe'], env: {} })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => void chunks.push(String(chunk)))
  const dieWithUs = () => void child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  return {
    output: () => chunks.join(''),
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async kill() {
      process.off('exit', dieWithUs)
      if (hasEnded(child)) return
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}
