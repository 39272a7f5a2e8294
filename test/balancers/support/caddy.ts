import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { request } from 'undici'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { type Child, startChild } from './child.ts'
import type { Networks } from './networks.ts'
import { residentBytes } from './resident-bytes.ts'

/** A Caddy with nothing in it but its admin API, on the machine of the balancers. */
export interface Caddy {
  adminUrl: string
  /** What it runs with, below `path`: `/`, `/apps/http/servers` … */
  config(path?: string): Promise<unknown>
  /** As somebody else does. */
  put(path: string, value: unknown): Promise<void>
  /** In bytes, of its memory in use. */
  memory(): Promise<number>
  /** Killed and started anew, empty. */
  restart(): Promise<void>
  output(): string
  stop(): Promise<void>
}

const ADMIN_PORT = 2019

export async function startCaddy(networks: Networks, directory: string): Promise<Caddy> {
  const home = join(directory, 'caddy')
  const file = join(home, 'caddy.json')
  const adminUrl = `http://${networks.machine}:${ADMIN_PORT}`
  await mkdir(home, { recursive: true })
  await writeFile(
    file,
    JSON.stringify({ admin: { listen: `${networks.machine}:${ADMIN_PORT}`, config: { persist: false } } }),
  )
  let running: Child
  let output = ''

  async function start(): Promise<void> {
    const command = [...networks.inside('front'), 'caddy', 'run', '--config', file]
    running = startChild(command, { cwd: home, env: { HOME: home } })
    await eventually(async () => {
      if (!running.isRunning()) throw new Error(`caddy ended:\n${running.output()}`)
      await caddy.config('/')
    }, 10_000)
  }

  const caddy: Caddy = {
    adminUrl,
    async config(path = '/') {
      const { statusCode, body } = await request(`${adminUrl}/config${path}`)
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`caddy answers ${statusCode}: ${text}`)
      return JSON.parse(text) as unknown
    },
    async put(path, value) {
      const { statusCode, body } = await request(`${adminUrl}/config${path}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(value),
      })
      const text = await body.text()
      if (statusCode !== 200) throw new Error(`caddy answers ${statusCode}: ${text}`)
    },
    memory: () => residentBytes(running.pid),
    async restart() {
      await caddy.stop()
      await start()
    },
    output: () => output + running.output(),
    async stop() {
      await running.end('SIGKILL')
      output += running.output()
    },
  }
  await start()
  return caddy
}
