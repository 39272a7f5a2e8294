import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { RetryAfter } from '../../provider/errors.ts'

const WAIT_SECONDS = 10
const TAKEN = 75

/**
 * Runs the work while no other process works on the directory, in whatever container it runs. The kernel keeps the lock
 * (`flock` of util-linux) and gives it back when we end, however that happens.
 */
export async function withDirectoryLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const args = ['--exclusive', '--wait', `${WAIT_SECONDS}`, '--conflict-exit-code', `${TAKEN}`, join(directory, 'lock')]
  // `cat` ends when our end of its input is closed.
  const holder = spawn('flock', [...args, 'cat'], { stdio: ['pipe', 'pipe', 'pipe'] })
  let said = ''
  holder.stderr.on('data', (chunk) => (said += chunk))
  const ended = once(holder, 'close').catch((error: Error) => {
    throw new Error(`flock of util-linux could not be started: ${error.message}`)
  })
  holder.stdin.on('error', () => undefined)
  holder.stdin.write('held\n')
  const held = await Promise.race([once(holder.stdout, 'data').then(() => true), ended.then(() => false)])
  if (!held) {
    if (holder.exitCode === TAKEN) throw new RetryAfter(1_000, `another process works on ${directory}`)
    throw new Error(`${directory} could not be locked: ${said.trim() || `flock ended with ${holder.exitCode}`}`)
  }
  try {
    return await work()
  } finally {
    holder.stdin.end()
    await ended
  }
}
