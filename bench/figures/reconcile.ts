import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import type { RecordedRequest, ReplayOptions, ReplayResult } from '../clients/recorded-request.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples } from '../rounds.ts'
import { compared, counted, type Row } from '../row.ts'
import { ingressesOf, type WorldSize } from '../support/build-world.ts'
import { MEASURED_CORE } from '../support/on-core.ts'
import { profileFlags } from '../support/profile-flags.ts'
import { recordRequests } from '../support/record-requests.ts'
import { startControlPlane } from '../support/start-control-plane.ts'
import { startFunction } from '../support/start-function.ts'
import { startTold } from '../support/told-process.ts'

type Metric = 'ms' | 'cpuMs' | 'requests'

/** As `queue.concurrency` is by default. */
const CONCURRENCY = 8

/** From the reviews of new ingresses to their statuses, beside a bare client that makes the very same requests. */
export const reconcile: Figure = {
  name: 'reconcile',
  async run(bench) {
    const size = { ingresses: bench.quick ? 200 : 1_000, perNamespace: 50 }
    const sequences = await recordRequests(bench, size)
    const variants = {
      ours: () => serve(bench, size),
      floor: () => replay(size, sequences, CONCURRENCY),
    }
    const rows = await interleaved(variants, ({ ours, floor }) => rowsOf(size, ours, floor), {
      ...bench,
      rounds: bench.rounds ?? (bench.quick ? 3 : 5),
      seconds: bench.quick ? 15 : 90,
    })
    return [...rows, await eventToStatus(bench)]
  },
  async profile(bench, folder) {
    const size = { ingresses: 1_000, perNamespace: 50 }
    await serve(bench, size, profileFlags(folder, 'ours'))
  },
}

async function serve(bench: Bench, size: WorldSize, flags: string[] = []): Promise<Record<Metric, number>> {
  const plane = await startControlPlane(size)
  const running = await startFunction(bench, { kubeconfig: plane.kubeconfig, flags })
  try {
    const before = running.usage().cpuMs
    const served = plane.served(size.ingresses)
    const started = performance.now()
    await running.doors.notify(ingressesOf(size))
    await served
    const ms = performance.now() - started
    const cpuMs = running.usage().cpuMs - before
    return { ms, cpuMs, requests: await requestsOf(plane) }
  } finally {
    await running.stop()
    await plane.stop()
  }
}

const ONE_BY_ONE = { ingresses: 20, perNamespace: 50 }

/** From one review to its status, with nothing else to do. Of that, 50 ms wait on purpose for the API server's commit. */
async function eventToStatus(bench: Bench): Promise<Row> {
  const sequences = await recordRequests(bench, ONE_BY_ONE)
  const plane = await startControlPlane(ONE_BY_ONE)
  const running = await startFunction(bench, plane)
  const ours: number[] = []
  try {
    for (const [index, ingress] of ingressesOf(ONE_BY_ONE).entries()) {
      const served = plane.served(index + 1)
      const started = performance.now()
      await running.doors.notify([ingress])
      await served
      ours.push(performance.now() - started)
    }
  } finally {
    await running.stop()
    await plane.stop()
  }
  const { ms } = await replay(ONE_BY_ONE, sequences, 1)
  const floor = ours.map(() => ms / ONE_BY_ONE.ingresses)
  return compared({ name: 'one event to its status, 50 ms of waiting included', unit: 'ms', ours, floor, clock: true })
}

async function replay(
  size: WorldSize,
  sequences: RecordedRequest[][],
  concurrency: number,
): Promise<Record<Metric, number>> {
  const plane = await startControlPlane(size)
  const client = startTold(join(import.meta.dirname, '../clients/replay-requests.ts'), MEASURED_CORE)
  try {
    const { url, caPem, token } = plane
    const options: ReplayOptions = { url, caPem, token, sequences, concurrency }
    const { ms, cpuMs, differences } = await client.tell<ReplayResult>(options)
    await plane.served(size.ingresses)
    const requests = await requestsOf(plane)
    if (differences.length > requests / 100)
      throw new Error(`not the same requests: ${differences.slice(0, 3).join('\n')}`)
    return { ms, cpuMs, requests }
  } finally {
    await client.stop()
    await plane.stop()
  }
}

async function requestsOf({ requests }: { requests(): Promise<Record<string, number>> }): Promise<number> {
  return Object.values(await requests()).reduce((sum, count) => sum + count, 0)
}

function rowsOf({ ingresses }: WorldSize, ours: Samples<Metric>, floor: Samples<Metric>): Row[] {
  const name = `${ingresses.toLocaleString('en')} ingresses created → all statuses`
  const perSecond = ours.ms.map((ms) => (ingresses / ms) * 1_000)
  return [
    compared({ name, unit: 'ms', ours: ours.ms, floor: floor.ms, clock: true }, ASKED.reconcile.ms),
    compared({ name: `${name}: CPU`, unit: 'ms', ours: ours.cpuMs, floor: floor.cpuMs }, ASKED.reconcile.cpu),
    compared({ name: `${name}: requests`, unit: '', ours: ours.requests, floor: floor.requests }),
    counted({ name: 'work throughput', unit: '/s', ours: perSecond, clock: true }),
  ]
}
