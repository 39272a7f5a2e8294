import type { Row } from './row.ts'

/** One thing that is measured: a run of it tells several values. */
export type Variant<Metric extends string> = () => Promise<Record<Metric, number>>

/** Value by round, of each metric. */
export type Samples<Metric extends string> = Record<Metric, number[]>

export interface RoundsOptions {
  /** At first. */
  rounds: number
  /** For the rounds that follow while something is undecided: so many times what the first ones took. */
  patience: number
  log: (line: string) => void
}

/**
 * Runs the variants one after the other, round by round, every other round backwards: what the machine does meanwhile
 * meets all of them. Goes on while the rows that the samples make are undecided.
 */
export async function interleaved<Name extends string, Metric extends string>(
  variants: Record<Name, Variant<Metric>>,
  rowsOf: (samples: Record<Name, Samples<Metric>>) => Row[],
  { rounds, patience, log }: RoundsOptions,
): Promise<Row[]> {
  const names = Object.keys(variants) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, {}])) as Record<Name, Samples<Metric>>
  // The first touch of files and code is nobody's.
  for (const name of names) await variants[name]()
  const most = rounds * (1 + patience)
  let done = 0
  for (;;) {
    for (const until = done === 0 ? rounds : done + Math.ceil(rounds / 2); done < until; done += 1) {
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
    if (undecided.length === 0 || done >= most) return rows
    log(`undecided after ${done} rounds: ${undecided.map(({ name }) => name).join('; ')}`)
  }
}
