import { setTimeout as pause } from 'node:timers/promises'
import { type Connection, openConnection } from './connection.ts'
import type { Reply, Target } from './target.ts'

/** One request of many: when it began and ended (`performance.now()`), and who answered or why nobody did. */
export interface Request {
  from: number
  to: number
  pod?: string
  cluster?: string
  /** `status 502`, `ECONNRESET`, `timeout` … */
  failure?: string
  fingerprint?: string
  /** Over a new connection, since the one before was closed under it. */
  isRepeated?: boolean
}

export interface LoadOptions {
  connections: number
  /** Whether a connection is used again for the next request. */
  reuse: boolean
  /** Of each connection, after each request. */
  pauseMs: number
}

/** Clients that ask without end. */
export interface Load {
  /** So far. */
  requests: readonly Request[]
  /** Resolves once so many requests have begun and ended from now on. */
  more(count: number): Promise<void>
  /** Lets every request under way end. */
  stop(): Promise<Tally>
}

export interface Tally {
  requests: number
  failed: number
  /** Not failed: see `Connection.ask`. */
  repeated: number
  /** By kind. */
  failures: Record<string, number>
  byCluster: Record<string, number>
  byPod: Record<string, number>
}

const CONSTANT: LoadOptions = { connections: 20, reuse: true, pauseMs: 10 }

export function startLoad(target: Target | (() => Target), options: Partial<LoadOptions> = {}): Load {
  const { connections, reuse, pauseMs } = { ...CONSTANT, ...options }
  const nextTarget = typeof target === 'function' ? target : () => target
  const requests: Request[] = []
  let isStopped = false

  async function client(index: number): Promise<void> {
    // Not all in the same moment.
    await pause((index * pauseMs) / connections)
    let connection = openConnection(nextTarget().protocol)
    while (!isStopped) {
      requests.push(await timed(connection, nextTarget()))
      if (!reuse || requests.at(-1)?.failure !== undefined) {
        connection.close()
        connection = openConnection(nextTarget().protocol)
      }
      if (pauseMs > 0) await pause(pauseMs)
    }
    connection.close()
  }

  const clients = Array.from({ length: connections }, (_, index) => client(index))
  return {
    requests,
    async more(count) {
      const began = performance.now()
      const deadline = began + 60_000
      while (requests.filter(({ from }) => from >= began).length < count) {
        if (performance.now() > deadline) throw new Error(`the load does not come to ${count} requests in a minute`)
        await pause(20)
      }
    },
    async stop() {
      isStopped = true
      await Promise.all(clients)
      return tally(requests)
    },
  }
}

/** So many requests, by 20 clients. */
export async function askMany(target: Target, count: number, { reuse = false } = {}): Promise<Tally> {
  const requests: Request[] = []
  let begun = 0
  const client = async () => {
    let connection = openConnection(target.protocol)
    while (begun < count) {
      begun += 1
      requests.push(await timed(connection, target))
      if (reuse) continue
      connection.close()
      connection = openConnection(target.protocol)
    }
    connection.close()
  }
  await Promise.all(Array.from({ length: CONSTANT.connections }, client))
  return tally(requests)
}

function tally(requests: readonly Request[]): Tally {
  const result: Tally = { requests: requests.length, failed: 0, repeated: 0, failures: {}, byCluster: {}, byPod: {} }
  const count = (counts: Record<string, number>, name: string | undefined) => {
    if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1
  }
  for (const { failure, cluster, pod, isRepeated } of requests) {
    if (failure !== undefined) result.failed += 1
    if (isRepeated === true) result.repeated += 1
    count(result.failures, failure)
    count(result.byCluster, cluster)
    count(result.byPod, pod)
  }
  return result
}

/** `3 of 4021 failed (ECONNRESET 2, status 502 1), 5 repeated over a new connection` */
export function describeFailures({ requests, failed, failures, repeated }: Tally): string {
  const kinds = Object.entries(failures).map(([kind, count]) => `${kind} ${count}`)
  const why = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`
  const again = repeated === 0 ? '' : `, ${repeated} repeated over a new connection`
  return `${failed} of ${requests} failed${why}${again}`
}

async function timed(connection: Connection, target: Target): Promise<Request> {
  const from = performance.now()
  try {
    const reply = await connection.ask(target)
    return { from, to: performance.now(), ...resultOf(reply) }
  } catch (error) {
    return { from, to: performance.now(), failure: kindOf(error) }
  }
}

function resultOf({ pod, status, fingerprint, isRepeated = false }: Reply): Partial<Request> {
  if (pod === undefined) return { failure: `status ${status}`, isRepeated }
  return { pod: pod.pod, cluster: pod.cluster, isRepeated, ...(fingerprint === undefined ? {} : { fingerprint }) }
}

function kindOf(error: unknown): string {
  const { code, name, message } = error as NodeJS.ErrnoException
  if (name === 'AbortError' || name === 'TimeoutError') return 'timeout'
  return typeof code === 'string' ? code : message
}
