import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples } from '../rounds.ts'
import { type Asked, compared, type Row } from '../row.ts'
import { freePort } from '../support/free-port.ts'
import { floorServer, nodeLeaf } from '../support/leaf-commands.ts'
import { type MeasuredProcess, type ProcessCommand, startMeasured } from '../support/measured-process.ts'
import { MEASURED_CORE } from '../support/on-core.ts'
import { ingressReview } from '../support/reviews.ts'
import { runLoad } from '../support/run-load.ts'
import { startStubCluster } from '../support/stub-cluster.ts'

type Metric = 'perSecond' | 'p50' | 'p99' | 'cpu'

const THROUGHPUT: Asked = { bound: { atLeast: 0.65 }, aim: { atLeast: 0.8 } }
const TAIL: Asked = { bound: { atMost: 2.2 }, aim: { atMost: 1.5 } }

/**
 * The same review again and again. Its object never appears, so that the worker behind the door asks for it twenty times
 * a second and is otherwise out of the way: what is measured is the door and the queue.
 */
export const notifyDoor: Figure = {
  name: 'notify-door',
  async run(bench) {
    const cluster = await startStubCluster()
    const port = { ours: await freePort(), floor: await freePort() }
    const servers = {
      ours: await start(await nodeLeaf(bench, port.ours, cluster), port.ours),
      floor: await start(await floorServer(bench, port.floor, { name: 'https-with-ajv' }), port.floor),
    }
    try {
      const variant = (which: 'ours' | 'floor', connections: number) => () =>
        load(bench, servers[which], port[which], connections)
      const variants = {
        'ours 10': variant('ours', 10),
        'floor 10': variant('floor', 10),
        'ours 50': variant('ours', 50),
        'floor 50': variant('floor', 50),
      }
      return await interleaved(variants, (samples) => [10, 50].flatMap((connections) => rowsOf(connections, samples)), {
        ...bench,
        rounds: bench.rounds ?? (bench.quick ? 5 : 11),
      })
    } finally {
      await servers.ours.stop()
      await servers.floor.stop()
      await cluster.close()
    }
  },
  async profile(bench, folder) {
    const cluster = await startStubCluster()
    const flags = (name: string) => [
      '--cpu-prof',
      `--cpu-prof-dir=${folder}`,
      `--cpu-prof-name=notify-door-${name}.cpuprofile`,
    ]
    const commands = {
      ours: (port: number) => nodeLeaf(bench, port, cluster),
      floor: (port: number) => floorServer(bench, port, { name: 'https-with-ajv' }),
    }
    for (const [name, commandFor] of Object.entries(commands)) {
      const port = await freePort()
      const command = await commandFor(port)
      const server = await start({ ...command, args: [...flags(name), ...command.args] }, port)
      for (let round = 0; round < 5; round += 1) await load(bench, server, port, 50)
      await server.stop()
    }
    await cluster.close()
  },
}

async function start(command: ProcessCommand, port: number): Promise<MeasuredProcess> {
  const server = startMeasured({ ...command, core: MEASURED_CORE })
  await server.listening(port)
  return server
}

const REQUESTS = 4_000
const WARM_UP = 1_000

async function load(
  { folder, tls }: Bench,
  server: MeasuredProcess,
  port: number,
  connections: number,
): Promise<Record<Metric, number>> {
  const bodyFile = join(folder, 'review.json')
  writeFileSync(bodyFile, ingressReview())
  const before = server.usage().cpuMs
  const { perSecond, p50, p99 } = await runLoad({
    port,
    path: '/admission/notify',
    caFile: tls.caFile,
    bodyFile,
    connections,
    requests: REQUESTS,
    warmUp: WARM_UP,
  })
  const cpu = ((server.usage().cpuMs - before) * 1_000) / (REQUESTS + WARM_UP)
  return { perSecond, p50, p99, cpu }
}

function rowsOf(connections: number, samples: Record<string, Samples<Metric>>): Row[] {
  const ours = samples[`ours ${connections}`]
  const floor = samples[`floor ${connections}`]
  if (ours === undefined || floor === undefined) return []
  const row = (metric: Metric, what: string, unit: string, asked?: Asked) =>
    compared(
      { name: `notify door, ${connections} connections: ${what}`, unit, ours: ours[metric], floor: floor[metric] },
      asked,
    )
  return [
    row('perSecond', 'throughput', '/s', THROUGHPUT),
    row('p50', 'p50', 'µs'),
    row('p99', 'p99', 'µs', TAIL),
    row('cpu', 'CPU a review', 'µs'),
  ]
}
