// npm run bench: every figure beside its floor, in one run. `--help` tells the options.
// Exit 0: measured; 1: beyond a bound or failed, with --check; 2: the options are wrong.
import { mkdirSync, rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, relative } from 'node:path'
import { type Bench, createBench } from './bench.ts'
import { CannotMeasure, type Figure } from './figure.ts'
import { FIGURES } from './figures.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import type { Failure, Results } from './results.ts'
import { isFarBeyond, type Row } from './row.ts'
import { summariseProfiles } from './summarise-profiles.ts'
import { formatTable } from './table.ts'
import { writeResults } from './write-results.ts'

const log = (line: string) => void process.stdout.write(`${line}\n`)

/** A figure that takes longer hangs. */
const PATIENCE_MS = 300_000

// What was started ends with us, and so do its files.
process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143))

process.exitCode = await main(process.argv.slice(2))

async function main(parameters: string[]): Promise<number> {
  if (parameters.includes('--help')) {
    log(USAGE)
    return 0
  }
  const options = optionsOrFault(parameters)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n\n${USAGE}`)
    return 2
  }
  const bench = await createBench({ ...options, log: (line) => log(`  ${line}`) })
  try {
    return options.profile.length === 0 ? await measure(bench, options) : await profile(bench, options.profile)
  } finally {
    bench.close()
  }
}

function optionsOrFault(parameters: string[]): Options | string {
  try {
    return parseOptions(parameters)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function measure(bench: Bench, options: Options): Promise<number> {
  const started = performance.now()
  const out = options.out ?? join(import.meta.dirname, 'results.json')
  const figures = FIGURES.filter((figure) => isWanted(figure, options))
  const results: Results = { node: process.version, cores: cpus().length, seconds: 0, rows: [], failures: [] }
  for (const [index, figure] of figures.entries()) {
    log(`[${index + 1}/${figures.length}] ${figure.name}, after ${secondsSince(started).toFixed(0)} s`)
    const measured = await rowsOrFailure(figure, bench)
    if (Array.isArray(measured)) results.rows.push(...measured)
    else results.failures.push(measured)
    results.seconds = secondsSince(started)
    writeResults(results, { out, markdown: options.markdown })
  }
  log(`\n${formatTable(results)}\n\n${results.seconds.toFixed(0)} s on ${results.cores} cores, Node ${results.node}`)
  log(`results in ${relative(process.cwd(), out)}`)
  return conclude(results, options)
}

function isWanted({ name, slow, peers }: Figure, options: Options): boolean {
  if (options.only.length > 0) return options.only.includes(name)
  return peers === true ? options.peers : !(options.quick && slow)
}

/** What goes wrong with one figure is told, and is not the end of the others. */
async function rowsOrFailure(figure: Figure, bench: Bench): Promise<Row[] | Failure> {
  const started = performance.now()
  try {
    const rows = await inTime(figure.run(bench))
    bench.log(`${rows.length} rows in ${secondsSince(started).toFixed(1)} s`)
    return rows
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const isLacking = error instanceof CannotMeasure
    bench.log(`${isLacking ? 'left out' : 'failed'}: ${isLacking ? message : String((error as Error).stack ?? error)}`)
    return { figure: figure.name, kind: isLacking ? 'left out' : 'failed', message }
  }
}

async function inTime<T>(run: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not done after ${PATIENCE_MS / 1_000} s`)), PATIENCE_MS)
  try {
    return await Promise.race([run, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function conclude({ rows, failures }: Results, { check, quick }: Options): number {
  const undecided = rows.filter(({ verdict }) => verdict === 'undecided')
  const beyond = rows.filter(({ verdict }) => verdict === 'beyond')
  // A short look at a busy machine's clock proves nothing.
  const counting = quick ? beyond.filter((row) => !row.clock || isFarBeyond(row)) : beyond
  const failed = failures.filter(({ kind }) => kind === 'failed')
  tell('undecided, as the machine was too busy', undecided)
  tell(
    'beyond the bound by a clock that had little time',
    beyond.filter((row) => !counting.includes(row)),
  )
  tell('beyond the bound', counting)
  if (failed.length > 0) log(`failed: ${failed.map(({ figure }) => figure).join('; ')}`)
  return check && counting.length + failed.length > 0 ? 1 : 0
}

function tell(what: string, rows: readonly Row[]): void {
  if (rows.length > 0) log(`${what}: ${rows.map(({ name }) => name).join('; ')}`)
}

async function profile(bench: Bench, wanted: readonly string[]): Promise<number> {
  for (const figure of FIGURES.filter(({ name }) => wanted.includes(name))) {
    if (figure.profile === undefined) {
      process.stderr.write(`${figure.name} has no profile\n`)
      return 2
    }
    const folder = join(import.meta.dirname, 'profiles', figure.name)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    await figure.profile(bench, folder)
    log(summariseProfiles(folder))
    log(`profiles in ${relative(process.cwd(), folder)}`)
  }
  return 0
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1_000
}
