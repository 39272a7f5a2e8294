import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { openConnection } from './connection.ts'
import type { LoadClients, ToldRequest } from './load-request.ts'
import { timedRequest } from './timed-request.ts'

const { target, options } = workerData as LoadClients
const { connections, reuse, pauseMs } = options
let isStopped = false
parentPort?.once('message', () => {
  isStopped = true
})
await Promise.all(Array.from({ length: connections }, (_, index) => client(index)))

async function client(index: number): Promise<void> {
  // Not all in the same moment.
  await pause((index * pauseMs) / connections)
  let connection = openConnection(target.protocol)
  while (!isStopped) {
    const request = await timedRequest(connection, target)
    parentPort?.postMessage({ origin: performance.timeOrigin, request } satisfies ToldRequest)
    if (!reuse || request.failure !== undefined) {
      connection.close()
      connection = openConnection(target.protocol)
    }
    if (pauseMs > 0) await pause(pauseMs)
  }
  connection.close()
}
