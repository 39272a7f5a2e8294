import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import type { Figure } from '../figure.ts'
import { counted, type Row } from '../row.ts'
import { ingressesOf } from '../support/build-world.ts'
import { type ControlPlane, startControlPlane } from '../support/start-control-plane.ts'
import { type RunningFunction, startFunction } from '../support/start-function.ts'

const SIZE = { ingresses: 10, perNamespace: 10 }
/** What the last event and the last connection have to end in. */
const SETTLING_MS = 5_000

/** A function that has served a few ingresses, and that nothing happens to any more. */
export const idle: Figure = {
  name: 'idle',
  slow: true,
  async run(bench) {
    const rows = await Promise.all([restOf(bench, 'memory'), restOf(bench, 'cloudevents')])
    return rows.flat()
  },
}

async function restOf(bench: Bench, kind: 'memory' | 'cloudevents'): Promise<Row[]> {
  const plane = await startControlPlane(SIZE)
  const broker = await startBroker(bench.tls.caPem)
  const queue = kind === 'memory' ? { kind } : { kind, sink: broker.url }
  const running = await startFunction(bench, { kubeconfig: plane.kubeconfig, config: { queue } })
  broker.deliverTo(running.port)
  try {
    await running.doors.notify(ingressesOf(SIZE))
    await plane.served(SIZE.ingresses)
    await pause(SETTLING_MS)
    return await restRows(bench, kind, { plane, broker, running })
  } finally {
    await running.stop()
    await broker.close()
    await plane.stop()
  }
}

async function restRows(
  bench: Bench,
  kind: string,
  { plane, broker, running }: { plane: ControlPlane; broker: Broker; running: RunningFunction },
): Promise<Row[]> {
  const seconds = bench.quick ? 10 : 60
  await plane.requests()
  const sent = broker.taken()
  const before = running.usage().cpuMs
  await pause(seconds * 1_000)
  const cpu = (running.usage().cpuMs - before) / (seconds * 10)
  const asked = Object.values(await plane.requests()).reduce((sum, count) => sum + count, 0)
  const name = `idle for ${seconds} s, ${kind} delivery`
  return [
    counted({ name: `${name}: requests to the API server`, unit: '', ours: [asked] }, ASKED.idle.requests),
    counted({ name: `${name}: events sent`, unit: '', ours: [broker.taken() - sent] }, ASKED.idle.requests),
    counted({ name: `${name}: CPU of one core`, unit: '%', ours: [cpu] }, ASKED.idle.cpuPercent),
  ]
}

/** As a Knative Broker with a Trigger: takes an event, and brings it to the events door. */
interface Broker {
  url: string
  taken(): number
  deliverTo(port: number): void
  close(): Promise<void>
}

async function startBroker(caPem: string): Promise<Broker> {
  const dispatcher = new Agent({ connect: { ca: caPem } })
  let taken = 0
  let port = 0
  const server = createServer(async (message, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of message) chunks.push(chunk as Buffer)
    taken += 1
    response.writeHead(202).end()
    const headers = Object.fromEntries(
      Object.entries(message.headers).filter(([name]) => name.startsWith('ce-') || name === 'content-type'),
    )
    await deliver(Buffer.concat(chunks), headers)
  }).listen(0, '127.0.0.1')
  /** Again while it is told to come back. */
  const deliver = async (body: Buffer, headers: Record<string, string | string[] | undefined>) => {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const answer = await request(`https://127.0.0.1:${port}/events`, { dispatcher, method: 'POST', headers, body })
      await answer.body.dump()
      if (answer.statusCode !== 503) return
      await pause(200)
    }
  }
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken: () => taken,
    deliverTo(listening) {
      port = listening
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await dispatcher.close()
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
