// npm run bench: every figure beside its floor, in one run. `--help` tells the options.
// Exit 0: measured; 1: beyond a bound, with --check; 2: the options are wrong.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, relative } from 'node:path'
import { type Bench, createBench } from './bench.ts'
import { CannotMeasure, type Figure } from './figure.ts'
import { FIGURES } from './figures.ts'
import { type Options, parseOptions, USAGE } from './options.ts'
import type { Row } from './row.ts'
import { formatTable } from './table.ts'

const log = (line: string) => void process.stdout.write(`${line}\n`)

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
    return options.profile === undefined ? await measure(bench, options) : await profile(bench, options.profile)
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

async function measure(bench: Bench, { only, quick, check, out }: Options): Promise<number> {
  const started = performance.now()
  const rows: Row[] = []
  for (const figure of FIGURES.filter(({ name, slow }) =>
    only.length === 0 ? !(quick && slow) : only.includes(name),
  )) {
    rows.push(...(await rowsOf(figure, bench)))
  }
  const seconds = (performance.now() - started) / 1_000
  log(`\n${formatTable(rows)}\n\n${seconds.toFixed(0)} s on ${cpus().length} cores, Node ${process.version}`)
  const file = out ?? join(import.meta.dirname, 'results.json')
  writeFileSync(file, `${JSON.stringify({ node: process.version, cores: cpus().length, seconds, rows }, null, 2)}\n`)
  log(`results in ${relative(process.cwd(), file)}`)
  return conclude(rows, check)
}

async function rowsOf(figure: Figure, bench: Bench): Promise<Row[]> {
  const started = performance.now()
  log(`${figure.name} …`)
  try {
    const rows = await figure.run(bench)
    bench.log(`${rows.length} rows in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
    return rows
  } catch (error) {
    if (!(error instanceof CannotMeasure)) throw error
    bench.log(`left out: ${error.message}`)
    return []
  }
}

function conclude(rows: readonly Row[], check: boolean): number {
  const named = (verdict: Row['verdict']) => rows.filter((row) => row.verdict === verdict).map(({ name }) => name)
  const beyond = named('beyond')
  const undecided = named('undecided')
  if (undecided.length > 0) log(`undecided, as the machine was too busy: ${undecided.join('; ')}`)
  if (beyond.length > 0) log(`beyond the bound: ${beyond.join('; ')}`)
  return check && beyond.length > 0 ? 1 : 0
}

async function profile(bench: Bench, wanted: string): Promise<number> {
  const figure = FIGURES.find(({ name }) => name === wanted)
  if (figure?.profile === undefined) {
    process.stderr.write(`${wanted} has no profile\n`)
    return 2
  }
  const folder = join(import.meta.dirname, 'profiles')
  mkdirSync(folder, { recursive: true })
  await figure.profile(bench, folder)
  log(`profiles in ${relative(process.cwd(), folder)}`)
  return 0
}
