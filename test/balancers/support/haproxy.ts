import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../../contracts/kubernetes-api/eventually.ts'
import { type Child, startChild } from './child.ts'
import type { Networks } from './networks.ts'
import { residentBytes } from './resident-bytes.ts'

/** HAProxy on the machine of the balancers, kept running as systemd does (`Restart=always`). */
export interface Haproxy {
  /** Of the provider that runs beside it, without addresses. */
  options: object
  /** Records of what it balances for us, as files. */
  records(): Promise<string[]>
  /** Of all its processes, in bytes. */
  memory(): Promise<number>
  /** Stopped and started anew, with the files that are there. */
  restart(): Promise<void>
  output(): string
  stop(): Promise<void>
}

const LOOK_EVERY_MS = 200
/** Short: what a reload leaves behind does not outlive the test. */
const HARD_STOP_SECONDS = 10

export async function startHaproxy(networks: Networks, parent: string): Promise<Haproxy> {
  const directory = join(parent, 'haproxy')
  const stateDirectory = join(directory, 'state')
  const masterSocket = join(directory, 'master.sock')
  const configuration = join(stateDirectory, 'haproxy.cfg')
  const runtimeSocket = join(directory, 'runtime.sock')
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 })
  // As on a new machine: HAProxy runs before anybody has configured it.
  await writeFile(configuration, '')
  const command = [...networks.inside('front'), 'haproxy', '-W', '-S', masterSocket, '-f', configuration]
  const runs: Child[] = []
  const running = () => runs.find((child) => child.isRunning())
  const supervisor = setInterval(() => {
    if (running() === undefined) runs.push(startChild(command, { cwd: directory }))
  }, LOOK_EVERY_MS)
  return {
    options: {
      stateDirectory,
      masterSocket,
      runtimeSocket,
      hardStopAfterSeconds: HARD_STOP_SECONDS,
    },
    records: () => readdir(join(stateDirectory, 'records')),
    async memory() {
      const master = running()?.pid ?? 0
      const workers = (await readFile(`/proc/${master}/task/${master}/children`, 'utf8')).trim().split(' ')
      const sizes = await Promise.all([master, ...workers.map(Number)].map(residentBytes))
      return sizes.reduce((sum, size) => sum + size, 0)
    },
    async restart() {
      const before = running()
      await before?.end('SIGTERM')
      await eventually(() => {
        if (running() === undefined) throw new Error('haproxy is not started anew')
      })
    },
    output: () => runs.map((child) => child.output()).join(''),
    async stop() {
      clearInterval(supervisor)
      await running()?.end('SIGTERM')
    },
  }
}
