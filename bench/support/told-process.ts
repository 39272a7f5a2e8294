import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { nodeOnCore } from './on-core.ts'
import { type ProcessUsage, usageOf } from './process-usage.ts'

/** A Node process that answers each message with one of its own, one after the other. */
export interface ToldProcess {
  tell<Answer>(message: object): Promise<Answer>
  usage(): ProcessUsage
  stop(): Promise<void>
}

export function startTold(file: string, core: number, flags: readonly string[] = []): ToldProcess {
  const child = spawn(...nodeOnCore(core, [...flags, file]), { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = once(child, 'exit').then(() => void process.off('exit', kill))
  const over = ended.then((): never => {
    throw new Error(`${file} ended`)
  })
  over.catch(() => {})
  return {
    async tell<Answer>(message: object) {
      const answered = once(child, 'message')
      child.send(message)
      const [{ answer }] = await Promise.race([answered, over])
      return answer as Answer
    },
    usage: () => usageOf(child.pid ?? Number.NaN),
    async stop() {
      child.disconnect()
      await ended
    },
  }
}
