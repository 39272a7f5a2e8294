import { freePort } from '../../test/support/free-port.ts'
import { ASKED } from '../bounds.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples } from '../rounds.ts'
import { type Asked, compared, type Row } from '../row.ts'
import { floorServer, nodeLeaf } from '../support/leaf-commands.ts'
import { type Door, type DoorMetric, measureDoor, startServer } from '../support/measure-door.ts'
import { PROFILED_PATIENCE_MS, profileFlags } from '../support/profile-flags.ts'
import { startStubCluster } from '../support/stub-cluster.ts'

const PATH = '/admission/notify'
// More than a hundred a connection: when the machine stops once, it stops every connection, and that is not the p99.
const LOAD = { requests: 6_000, warmUp: 1_000 }
const QUICK_LOAD = { requests: 1_500, warmUp: 500 }

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
      ours: await startServer(await nodeLeaf(bench, port.ours, cluster), port.ours),
      floor: await startServer(await floorServer(bench, port.floor, { name: 'https-with-ajv' }), port.floor),
    }
    try {
      const variant = (which: 'ours' | 'floor', connections: number) => () => {
        const door: Door = { server: servers[which], port: port[which], path: PATH }
        return measureDoor(bench, door, { ...(bench.quick ? QUICK_LOAD : LOAD), connections })
      }
      const variants = {
        'ours 10': variant('ours', 10),
        'floor 10': variant('floor', 10),
        'ours 50': variant('ours', 50),
        'floor 50': variant('floor', 50),
      }
      return await interleaved(variants, (samples) => [10, 50].flatMap((connections) => rowsOf(connections, samples)), {
        ...bench,
        rounds: bench.rounds ?? (bench.quick ? 5 : 11),
        seconds: bench.quick ? 12 : 60,
      })
    } finally {
      await servers.ours.kill()
      await servers.floor.kill()
      await cluster.close()
    }
  },
  async profile(bench, folder) {
    const cluster = await startStubCluster()
    const commands = {
      ours: (port: number) => nodeLeaf(bench, port, cluster),
      floor: (port: number) => floorServer(bench, port, { name: 'https-with-ajv' }),
    }
    for (const [name, commandFor] of Object.entries(commands)) {
      const port = await freePort()
      const command = await commandFor(port)
      const server = await startServer({ ...command, args: [...profileFlags(folder, name), ...command.args] }, port)
      for (let round = 0; round < 5; round += 1)
        await measureDoor(bench, { server, port, path: PATH }, { ...LOAD, connections: 50 })
      await server.stop(PROFILED_PATIENCE_MS)
    }
    await cluster.close()
  },
}

function rowsOf(connections: number, samples: Record<string, Samples<DoorMetric>>): Row[] {
  const ours = samples[`ours ${connections}`]
  const floor = samples[`floor ${connections}`]
  if (ours === undefined || floor === undefined) return []
  const row = (metric: DoorMetric, what: string, unit: string, asked?: Asked) => {
    const name = `notify door, ${connections} connections: ${what}`
    return compared({ name, unit, ours: ours[metric], floor: floor[metric], clock: metric !== 'cpu' }, asked)
  }
  const { perSecond, p99, cpu } = ASKED.notifyDoor
  return [
    row('perSecond', 'throughput', '/s', perSecond),
    row('p50', 'p50', 'µs'),
    row('p99', 'p99', 'µs', p99),
    row('cpu', 'CPU a review', 'µs', cpu),
  ]
}
