import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import type { Member, Networks } from './networks.ts'

/** On every pod: HTTP, lines over TCP, and lines over TCP behind a PROXY header. */
export const PORTS = { http: 8080, tcp: 9000, proxied: 9001 } as const

/** What the pods of a process answered, by the name of the pod. */
export interface Answered {
  requests: Record<string, number>
  /** Of `/healthz`. */
  healthChecks: Record<string, number>
}

export type PodOrder =
  | { kind: 'serve'; cluster: string; pods: { name: string; addresses: string[] }[]; ports: typeof PORTS }
  | { kind: 'count' }
  | { kind: 'health'; pod: string; isHealthy: boolean }

export type PodReport = { kind: 'serving' } | { kind: 'counted'; answered: Answered } | { kind: 'done' }

/** Some pods of a member cluster, in one process within its namespace. */
export interface Pods {
  /** `east-1` … */
  names: string[]
  answered(): Promise<Answered>
  /** Whether `/healthz` answers 200. */
  setHealth(pod: string, isHealthy: boolean): Promise<void>
  /** Without a word; returns when it is over. */
  kill(): Promise<void>
}

export async function startPods(networks: Networks, cluster: Member, numbers: readonly number[]): Promise<Pods> {
  const [command = '', ...rest] = [...networks.inside(cluster), process.execPath]
  const child = spawn(command, [...rest, join(import.meta.dirname, 'pod-server.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env['PATH'] },
  })
  const dieWithUs = () => void child.kill('SIGKILL')
  process.once('exit', dieWithUs)
  const pods = numbers.map((number) => ({
    name: `${cluster}-${number}`,
    addresses: [networks.pod(cluster, number), networks.pod(cluster, number, 'IPv6')],
  }))
  await order(child, { kind: 'serve', cluster, pods, ports: PORTS })
  return {
    names: pods.map(({ name }) => name),
    async answered() {
      const report = await order(child, { kind: 'count' })
      if (report.kind !== 'counted') throw new Error(`the pods report ${report.kind}`)
      return report.answered
    },
    async setHealth(pod, isHealthy) {
      await order(child, { kind: 'health', pod, isHealthy })
    },
    async kill() {
      process.off('exit', dieWithUs)
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** One order at a time. */
function order(child: ChildProcess, message: PodOrder): Promise<PodReport> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', report)
      child.off('exit', ended)
    }
    const report = (answer: unknown) => {
      settle()
      resolve(answer as PodReport)
    }
    const ended = (code: number | null) => {
      settle()
      reject(new Error(`the pods ended (exit ${code})`))
    }
    child.once('message', report)
    child.once('exit', ended)
    child.send(message)
  })
}
