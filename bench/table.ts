import type { Limit, Row, Verdict } from './row.ts'
import { relativeSpread } from './statistics.ts'

const HEADINGS = ['figure', 'ours', 'floor', 'ratio', 'spread', 'bound', 'aim', 'verdict']

const WORDS: Readonly<Record<Verdict, string>> = {
  aim: 'aim reached',
  within: 'within bound',
  beyond: 'BEYOND BOUND',
  undecided: 'undecided: too noisy',
  told: '',
}

/** A table in Markdown. */
export function formatTable(rows: readonly Row[]): string {
  const cells = [HEADINGS, ...rows.map(cellsOf)]
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const [headings = '', ...lines] = cells.map((line) => format(line, widths))
  const rule = format(
    widths.map((width) => '-'.repeat(width)),
    widths,
  )
  return [headings, rule, ...lines].join('\n')
}

function format(line: readonly string[], widths: readonly number[]): string {
  return `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
}

function cellsOf({ name, unit, ours, floor, ratio, bound, aim, verdict, noisyFloor }: Row): string[] {
  return [
    name,
    `${number(ours.median)} ${unit}`,
    floor === undefined ? '' : `${number(floor.median)} ${unit}`,
    ratio === undefined ? '' : number(ratio.median),
    spread(ratio ?? ours),
    limit(bound),
    limit(aim),
    `${WORDS[verdict]}${noisyFloor ? ' (noisy floor)' : ''}`,
  ]
}

/** Between which the middle half of the rounds lies, and how far that is in parts of the median. */
function spread(summary: Row['ours']): string {
  const { q1, q3 } = summary
  return q1 === q3 ? '' : `${number(q1)}–${number(q3)} (${Math.round(relativeSpread(summary) * 100)} %)`
}

function limit(asked: Limit | undefined): string {
  if (asked === undefined) return ''
  return 'atMost' in asked ? `≤ ${number(asked.atMost)}` : `≥ ${number(asked.atLeast)}`
}

function number(value: number): string {
  const size = Math.abs(value)
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}
