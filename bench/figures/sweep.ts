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
    const none = await withSettled(bench, bundle, sizeOf(0), ({ running }) => usageOf(running))
    const small = await sweepOf(bench, bundle, sizeOf(1_000))
    const large = await sweepOf(bench, bundle, sizeOf(10_000))
    const usages = Object.entries({ '0': none, '1,000': small.usage, '10,000': large.usage })
    return [
      ...small.rows,
      ...large.rows,
      ...usages.flatMap(([count, { rssMb, peakRssMb, restedRssMb }]) => [
        counted({ name: `memory: RSS between sweeps of ${count} objects`, unit: 'MB', ours: [restedRssMb] }),
        counted({ name: `memory: RSS right after sweeps of ${count} objects`, unit: 'MB', ours: [rssMb] }),
        counted({ name: `memory: peak RSS, sweeps of ${count} objects`, unit: 'MB', ours: [peakRssMb] }),
      ]),
      compared(
        {
          name: 'memory: RSS between sweeps at 10,000 objects beside 1,000',
          unit: 'MB',
          ours: [large.usage.restedRssMb],
          floor: [small.usage.restedRssMb],
        },
        ASKED.sweep.memory,
      ),
      compared({
        name: 'memory: RSS right after sweeps at 10,000 objects beside 1,000',
        unit: 'MB',
        ours: [large.usage.rssMb],
        floor: [small.usage.rssMb],
      }),
      compared({
        name: 'memory: peak RSS at 10,000 objects beside 1,000',
        unit: 'MB',
        ours: [large.usage.peakRssMb],
        floor: [small.usage.peakRssMb],
      }),
    ]
  },
  async profile(bench, folder) {
    const bundle = await diskLeaf(bench)
    const sweeps = async ({ running }: Settled) => {
      for (let sweep = 0; sweep < 3; sweep += 1) await running.doors.sweep()
    }
    await withSettled(bench, bundle, sizeOf(10_000), sweeps, profileFlags(folder, 'ours'))
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
  plane: ControlPlane
  running: RunningFunction
  /** Of the first sweep of a process that did not make these balancers. */
  firstMs: number
}

/**
 * A function that finds all of them served by an earlier one, and has swept once. Its cloud is on disk, so that its memory
 * is a function's and not a cloud's.
 */
async function withSettled<T>(
  bench: Bench,
  bundle: string,
  size: WorldSize,
  use: (settled: Settled) => Promise<T>,
  flags: string[] = [],
): Promise<T> {
  const plane = await startControlPlane(size)
  const provider = { name: 'disk', options: { file: join(bench.folder, `cloud-${randomUUID()}`) } }
  const ingressClass = { names: ['multicloud'], default: true, controller: FINALIZER }
  const settings = { ...plane, bundle, config: { provider, ingressClass, finalizer: FINALIZER } }
  try {
    const earlier = await startFunction(bench, settings)
    const madeMs = await settle(earlier, size)
    bench.log(`${size.ingresses} ingresses served in ${(madeMs / 1_000).toFixed(1)} s`)
    await plane.served(size.ingresses)
    await earlier.stop()
    const running = await startFunction(bench, { ...settings, flags })
    try {
      const firstMs = await mustSettle(running, size)
      return await use({ plane, running, firstMs })
    } finally {
      await running.stop()
    }
  } finally {
    await plane.stop()
  }
}

interface SweptUsage extends ProcessUsage {
  /** When V8 has given back what nobody uses, which it does in idle time. */
  restedRssMb: number
}

const REST_MS = 20_000

async function usageOf({ usage }: RunningFunction): Promise<SweptUsage> {
  const used = usage()
  await new Promise((resolve) => setTimeout(resolve, REST_MS))
  return { ...used, restedRssMb: usage().rssMb }
}

function sweepOf(bench: Bench, bundle: string, size: WorldSize): Promise<{ rows: Row[]; usage: SweptUsage }> {
  return withSettled(bench, bundle, size, async ({ plane, running, firstMs }) => {
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
      seconds: 30,
    })
    await lists.stop()
    const first = { name: `${name}: the first of a process`, unit: 'ms', ours: [firstMs], clock: true }
    return { rows: [...rows, counted(first)], usage: await usageOf(running) }
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
