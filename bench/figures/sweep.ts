import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { RESOURCES } from '../../src/domain/kinds.ts'
import { FINALIZER } from '../../test/support/build-objects.ts'
import type { Bench } from '../bench.ts'
import { ASKED } from '../bounds.ts'
import type { ListPagesOptions, ListPagesResult } from '../clients/list-options.ts'
import type { Figure } from '../figure.ts'
import { interleaved, type Samples } from '../rounds.ts'
import { compared, counted, type Row } from '../row.ts'
import { buildDiskLeaf } from '../support/build-disk-leaf.ts'
import type { WorldSize } from '../support/build-world.ts'
import { MEASURED_CORE } from '../support/on-core.ts'
import type { ProcessUsage } from '../support/process-usage.ts'
import { profileFlags } from '../support/profile-flags.ts'
import { type ControlPlane, startControlPlane } from '../support/start-control-plane.ts'
import { type RunningFunction, startFunction } from '../support/start-function.ts'
import { startTold } from '../support/told-process.ts'

type Metric = 'ms' | 'cpuMs' | 'reads' | 'writes'

/** A sweep that finds nothing to do, beside all pages of what it must read. */
export const sweepFigure: Figure = {
  name: 'sweep',
  slow: true,
  async run(bench) {
    const bundle = await diskLeaf(bench)
    const none = await withSettled(bench, bundle, sizeOf(0), bothUsages)
    const small = await sweepOf(bench, bundle, sizeOf(1_000))
    const large = await sweepOf(bench, bundle, sizeOf(10_000))
    const counts = Object.entries({ '0': none, '1,000': small, '10,000': large })
    return [
      ...small.rows,
      ...large.rows,
      ...counts.flatMap(([count, { free, contained }]) => [
        counted({
          name: `memory: RSS after sweeps of ${count} objects, ${CONTAINER}`,
          unit: 'MB',
          ours: [contained.rssMb],
        }),
        counted({ name: `memory: peak RSS, ${count} objects, ${CONTAINER}`, unit: 'MB', ours: [contained.peakRssMb] }),
        counted({
          name: `memory: RSS after sweeps of ${count} objects, without a limit`,
          unit: 'MB',
          ours: [free.rssMb],
        }),
      ]),
      compared(
        {
          name: `memory: RSS at 10,000 objects beside 1,000, ${CONTAINER}`,
          unit: 'MB',
          ours: [large.contained.rssMb],
          floor: [small.contained.rssMb],
        },
        ASKED.sweep.memory,
      ),
      compared({
        name: 'memory: RSS at 10,000 objects beside 1,000, without a limit',
        unit: 'MB',
        ours: [large.free.rssMb],
        floor: [small.free.rssMb],
      }),
    ]
  },
  async profile(bench, folder) {
    const sweeps = async ({ start, size }: Settled) =>
      running(await start(profileFlags(folder, 'ours')), async (process) => {
        for (let sweep = 0; sweep < 4; sweep += 1) await mustSettle(process, size)
      })
    await withSettled(bench, await diskLeaf(bench), sizeOf(10_000), sweeps)
  },
}

function sizeOf(ingresses: number): WorldSize {
  return { ingresses, perNamespace: 100 }
}

async function diskLeaf({ folder }: Bench): Promise<string> {
  const bundle = join(folder, 'disk-leaf')
  await buildDiskLeaf(bundle)
  return bundle
}

interface Settled {
  size: WorldSize
  plane: ControlPlane
  /** Another process, which did not make these balancers. */
  start(flags?: string[]): Promise<RunningFunction>
}

/** All ingresses are served by an earlier process. The cloud is on disk: the memory is a function's and not a cloud's. */
async function withSettled<T>(
  bench: Bench,
  bundle: string,
  size: WorldSize,
  use: (settled: Settled) => Promise<T>,
): Promise<T> {
  const plane = await startControlPlane(size)
  const provider = { name: 'disk', options: { file: join(bench.folder, `cloud-${randomUUID()}`) } }
  const ingressClass = { names: ['multicloud'], default: true, controller: FINALIZER }
  const settings = { ...plane, bundle, config: { provider, ingressClass, finalizer: FINALIZER } }
  try {
    await running(await startFunction(bench, settings), async (earlier) => {
      const madeMs = await settle(earlier, size)
      bench.log(`${size.ingresses} ingresses served in ${(madeMs / 1_000).toFixed(1)} s`)
      await plane.served(size.ingresses)
    })
    return await use({ size, plane, start: (flags = []) => startFunction(bench, { ...settings, flags }) })
  } finally {
    await plane.stop()
  }
}

async function running<T>(process: RunningFunction, use: (process: RunningFunction) => Promise<T>): Promise<T> {
  try {
    return await use(process)
  } finally {
    await process.stop()
  }
}

interface Usages {
  /** When V8 may take what it likes, on a machine with much. */
  free: ProcessUsage
  contained: ProcessUsage
}

interface Swept extends Usages {
  rows: Row[]
}

function sweepOf(bench: Bench, bundle: string, size: WorldSize): Promise<Swept> {
  return withSettled(bench, bundle, size, async (settled) => ({
    ...(await running(await settled.start(), (process) => besideLists(bench, settled, process))),
    contained: await usageOfSweeps(settled, HEAP_IN_CONTAINER),
  }))
}

async function bothUsages(settled: Settled): Promise<Usages> {
  return { free: await usageOfSweeps(settled, []), contained: await usageOfSweeps(settled, HEAP_IN_CONTAINER) }
}

/** What the manifests ask for, and the heap that V8 takes there. */
const CONTAINER = 'in a container of 256 Mi'
const HEAP_IN_CONTAINER = ['--max-old-space-size=256', '--max-semi-space-size=1']
const SWEEPS_OF_MEMORY = 5

async function usageOfSweeps({ start, size }: Settled, flags: string[]): Promise<ProcessUsage> {
  return running(await start(flags), async (process) => {
    for (let sweep = 0; sweep < SWEEPS_OF_MEMORY; sweep += 1) await mustSettle(process, size)
    return process.usage()
  })
}

/** Of a process that has swept once. */
async function besideLists(
  bench: Bench,
  { size, plane }: Settled,
  process: RunningFunction,
): Promise<Omit<Swept, 'contained'>> {
  const firstMs = await mustSettle(process, size)
  const lists = startTold(join(import.meta.dirname, '../clients/list-pages.ts'), MEASURED_CORE)
  const { url, caPem, token } = plane
  const options: ListPagesOptions = { url, caPem, token, paths: PATHS, limit: 500 }
  const variants = {
    ours: () => requestsOf(plane, () => sweepOnce(process, size)),
    floor: () => requestsOf(plane, () => lists.tell<ListPagesResult>(options)),
  }
  const name = `sweep of ${size.ingresses.toLocaleString('en')} settled objects`
  const rows = await interleaved(variants, ({ ours, floor }) => rowsOf(name, ours, floor), {
    ...bench,
    rounds: bench.rounds ?? 5,
    seconds: 30,
  })
  await lists.stop()
  const first = { name: `${name}: the first of a process`, unit: 'ms', ours: [firstMs], clock: true }
  return { rows: [...rows, counted(first)], free: process.usage() }
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

async function sweepOnce(running: RunningFunction, size: WorldSize): Promise<{ ms: number; cpuMs: number }> {
  const before = running.usage().cpuMs
  const ms = await mustSettle(running, size)
  return { ms, cpuMs: running.usage().cpuMs - before }
}

const ATTEMPTS = 5

/** Milliseconds until all is made. On a busy machine a lock or a deadline is lost now and then, which the next sweep mends. */
async function settle({ doors }: RunningFunction, { ingresses }: WorldSize): Promise<number> {
  const started = performance.now()
  for (let attempt = 1; ; attempt += 1) {
    const outcomes = await doors.sweep()
    const { settled, failed, later } = outcomes
    if (settled >= ingresses && failed + later === 0) return performance.now() - started
    if (attempt === ATTEMPTS) throw new Error(`not all was made: ${JSON.stringify(outcomes)}`)
  }
}

/** Milliseconds of one sweep. */
async function mustSettle({ doors }: RunningFunction, { ingresses }: WorldSize): Promise<number> {
  const started = performance.now()
  const outcomes = await doors.sweep()
  const ms = performance.now() - started
  const { settled, failed, later } = outcomes
  if (settled < ingresses || failed + later > 0) throw new Error(`not all is settled: ${JSON.stringify(outcomes)}`)
  return ms
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
    compared({ name, unit: 'ms', ours: ours.ms, floor: floor.ms, clock: true }, ASKED.sweep.ms),
    compared({ name: `${name}: CPU`, unit: 'ms', ours: ours.cpuMs, floor: floor.cpuMs }),
    compared({ name: `${name}: reads`, unit: '', ours: ours.reads, floor: floor.reads }),
    counted({ name: `${name}: writes`, unit: '', ours: ours.writes }, ASKED.sweep.writes),
  ]
}
