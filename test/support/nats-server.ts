import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as tcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** A real server with JetStream, on a free port of this machine, whose store survives restarts. */
export interface NatsServer {
  url: string
  /** Killed without a word. */
  kill(): Promise<void>
  /** On the same port, with what was stored. */
  start(): Promise<void>
  close(): Promise<void>
}

/** Why there is none, and what to do; undefined when there is one. In CI a missing one is a failure. */
export function natsServerMissing(environment: NodeJS.ProcessEnv): string | undefined {
  const found = spawnSync('nats-server', ['--version']).status === 0
  if (found || environment['CI'] !== undefined) return undefined
  return 'nats-server is not installed: apt-get install -y nats-server'
}

export async function startNatsServer(): Promise<NatsServer> {
  const directory = mkdtempSync(join(tmpdir(), 'nats-'))
  const port = await freePort()
  let running: ChildProcess | undefined

  async function start(): Promise<void> {
    running = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', directory], {
      stdio: 'ignore',
    })
    const failed = new Promise<never>((_, reject) => void running?.once('error', reject))
    await Promise.race([listening(port), failed])
  }

  async function kill(): Promise<void> {
    const process = running
    running = undefined
    if (process === undefined || process.exitCode !== null) return
    const exited = new Promise((resolve) => void process.once('exit', resolve))
    process.kill('SIGKILL')
    await exited
  }

  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    start,
    async close() {
      await kill()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** It greets as soon as it takes connections. */
async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = tcp(port, '127.0.0.1')
      const end = (up: boolean) => {
        socket.destroy()
        resolve(up)
      }
      socket.once('data', () => end(true))
      socket.once('error', () => end(false))
    })
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error(`nats-server does not listen on port ${port}`)
}
