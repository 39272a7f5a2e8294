import type { Row } from './row.ts'

/** One thing that is measured: a run of it tells several values. */
export type Variant<Metric extends string> = () => Promise<Record<Metric, number>>

/** Value by round, of each metric. */
export type Samples<Metric extends string> = Record<Metric, number[]>

export interface RoundsOptions {
  /** At first. */
  rounds: number
  /** So long there may be more rounds while something is undecided; of the first ones, FEWEST are made in any case. */
  seconds: number
  log: (line: string) => void
}

/** Of fewer, no interval says anything. */
const FEWEST = 3

/**
 * Runs the variants one after the other, round by round, every other round backwards: what the machine does meanwhile
 * meets all of them. Goes on while the rows that the samples make are undecided, and there is time.
 */
export async function interleaved<Name extends string, Metric extends string>(
  variants: Record<Name, Variant<Metric>>,
  rowsOf: (samples: Record<Name, Samples<Metric>>) => Row[],
  { rounds, seconds, log }: RoundsOptions,
): Promise<Row[]> {
  const names = Object.keys(variants) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, {}])) as Record<Name, Samples<Metric>>
  const until = performance.now() + seconds * 1_000
  // The first touch of files and code is nobody's.
  for (const name of names) await variants[name]()
  let done = 0
  const hasTime = () => done < FEWEST || performance.now() < until
  for (let wanted = rounds; ; wanted = done + Math.ceil(rounds / 2)) {
    for (; done < wanted && hasTime(); done += 1) {
      for (const name of done % 2 === 0 ? names : names.toReversed()) {
        const measured = await variants[name]()
        for (const [metric, value] of Object.entries(measured) as [Metric, number][]) {
          samples[name][metric] ??= []
          samples[name][metric].push(value)
        }
      }
    }
    const rows = rowsOf(samples)
    const undecided = rows.filter(({ verdict }) => verdict === 'undecided')
    if (undecided.length === 0 || !hasTime()) return rows
    log(`undecided after ${done} rounds: ${undecided.map(({ name }) => name).join('; ')}`)
  }
}
