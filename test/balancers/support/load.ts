import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { openConnection } from './connection.ts'
import type { LoadClients, LoadOptions, Request, ToldRequest } from './load-request.ts'
import type { Target } from './target.ts'
import { timedRequest } from './timed-request.ts'

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

/** In a thread of their own: what else goes on here must not let a connection lie that was closed long ago. */
export function startLoad(target: Target, options: Partial<LoadOptions> = {}): Load {
  const clients = new Worker(new URL('./load-clients.ts', import.meta.url), {
    workerData: { target, options: { ...CONSTANT, ...options } } satisfies LoadClients,
  })
  const requests: Request[] = []
  const ended = once(clients, 'exit')
  clients.on('message', ({ origin, request }: ToldRequest) => {
    const shift = origin - performance.timeOrigin
    requests.push({ ...request, from: request.from + shift, to: request.to + shift })
  })
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
      clients.postMessage('stop')
      const [code] = await ended
      if (code !== 0) throw new Error(`the clients ended with ${code}`)
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
      requests.push(await timedRequest(connection, target))
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
