import { join } from 'node:path'
import { RESOURCES } from '../../src/domain/kinds.ts'
import type { Bench } from '../bench.ts'
import type { ListPagesOptions, ListPagesResult } from '../clients/list-options.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples } from '../rounds.ts'
import { type Asked, compared, counted, type Row } from '../row.ts'
import type { WorldSize } from '../support/build-world.ts'
import { MEASURED_CORE } from '../support/on-core.ts'
import { type ControlPlane, startControlPlane } from '../support/start-control-plane.ts'
import { type RunningFunction, startFunction } from '../support/start-function.ts'
import { startTold } from '../support/told-process.ts'

type Metric = 'ms' | 'cpuMs' | 'reads' | 'writes'

const SWEPT: Asked = { bound: { atMost: 1.5 }, aim: { atMost: 1.2 } }
const MEMORY: Asked = { bound: { atMost: 1.3 } }
const NOTHING: Asked = { bound: { atMost: 0 } }

/** A sweep that finds nothing to do, beside all pages of what it must read. */
export const sweepFigure: Figure = {
  name: 'sweep',
  slow: true,
  async run(bench) {
    const none = await withSettled(bench, sizeOf(0), [], async ({ running }) => running.usage().rssMb)
    const small = await sweepOf(bench, sizeOf(1_000))
    const large = await sweepOf(bench, sizeOf(10_000))
    const memory = Object.entries({ '0': none, '1,000': small.rssMb, '10,000': large.rssMb }).map(([count, rssMb]) =>
      counted({ name: `memory: RSS after sweeps of ${count} objects`, unit: 'MB', ours: [rssMb] }),
    )
    const growth = { name: 'memory: RSS at 10,000 objects beside 1,000', unit: 'MB' }
    return [
      ...small.rows,
      ...large.rows,
      ...memory,
      compared({ ...growth, ours: [large.rssMb], floor: [small.rssMb] }, MEMORY),
    ]
  },
  async profile(bench, folder) {
    const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-name=sweep.cpuprofile']
    await withSettled(bench, sizeOf(10_000), flags, async ({ running }) => void (await running.doors.sweep()))
  },
}

function sizeOf(ingresses: number): WorldSize {
  return { ingresses, perNamespace: 100 }
}

interface Settled {
  plane: ControlPlane
  running: RunningFunction
}

/** The function that served them all, and has swept once more since. */
async function withSettled<T>(
  bench: Bench,
  size: WorldSize,
  flags: string[],
  use: (settled: Settled) => Promise<T>,
): Promise<T> {
  const plane = await startControlPlane(size)
  const running = await startFunction(bench, { ...plane, flags })
  try {
    await running.doors.sweep()
    await plane.served(size.ingresses)
    const { settled, ...others } = await running.doors.sweep()
    if (settled < size.ingresses) throw new Error(`not settled: ${JSON.stringify({ settled, ...others })}`)
    return await use({ plane, running })
  } finally {
    await running.stop()
    await plane.stop()
  }
}

function sweepOf(bench: Bench, size: WorldSize): Promise<{ rows: Row[]; rssMb: number }> {
  return withSettled(bench, size, [], async ({ plane, running }) => {
    const lists = startTold(join(import.meta.dirname, '../clients/list-pages.ts'), MEASURED_CORE)
    const { url, caPem, token } = plane
    const options: ListPagesOptions = { url, caPem, token, paths: PATHS, limit: 500 }
    const variants = {
      ours: () => requestsOf(plane, () => sweepOnce(running, size)),
      floor: () => requestsOf(plane, () => lists.tell<ListPagesResult>(options)),
    }
    const name = `sweep of ${size.ingresses.toLocaleString('en')} settled objects`
    const rows = await interleaved(variants, ({ ours, floor }) => rowsOf(name, ours, floor), {
      ...bench,
      rounds: bench.rounds ?? 5,
    })
    await lists.stop()
    return { rows, rssMb: running.usage().rssMb }
  })
}

/** What a sweep must read, each kind once. */
const PATHS = (
  [
    'MultiClusterIngress',
    'MultiClusterService',
    'Service',
    'ResourceBinding',
    'EndpointSlice',
    'ServiceExport',
    'PropagationPolicy',
    'IngressClass',
    'Cluster',
  ] as const
).map((kind) => {
  const { group, version, plural } = RESOURCES[kind]
  return group === '' ? `/api/${version}/${plural}` : `/apis/${group}/${version}/${plural}`
})

async function sweepOnce(
  { doors, usage }: RunningFunction,
  { ingresses }: WorldSize,
): Promise<{ ms: number; cpuMs: number }> {
  const before = usage().cpuMs
  const started = performance.now()
  const { settled, failed, later } = await doors.sweep()
  const ms = performance.now() - started
  if (settled < ingresses || failed > 0 || later > 0) throw new Error('the sweep found something to do')
  return { ms, cpuMs: usage().cpuMs - before }
}

async function requestsOf(
  { requests }: ControlPlane,
  action: () => Promise<{ ms: number; cpuMs: number }>,
): Promise<Record<Metric, number>> {
  await requests()
  const { ms, cpuMs } = await action()
  const { GET: reads = 0, ...others } = await requests()
  return { ms, cpuMs, reads, writes: Object.values(others).reduce((sum, count) => sum + count, 0) }
}

function rowsOf(name: string, ours: Samples<Metric>, floor: Samples<Metric>): Row[] {
  return [
    compared({ name, unit: 'ms', ours: ours.ms, floor: floor.ms }, SWEPT),
    compared({ name: `${name}: CPU`, unit: 'ms', ours: ours.cpuMs, floor: floor.cpuMs }),
    compared({ name: `${name}: reads`, unit: '', ours: ours.reads, floor: floor.reads }),
    counted({ name: `${name}: writes`, unit: '', ours: ours.writes }, NOTHING),
  ]
}
