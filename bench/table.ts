import type { Results } from './results.ts'
import type { Limit, Row, Verdict } from './row.ts'
import { relativeSpread, type Summary } from './statistics.ts'

const WORDS: Readonly<Record<Verdict, string>> = {
  aim: 'aim reached',
  within: 'within bound',
  beyond: 'BEYOND BOUND',
  undecided: 'undecided: too noisy',
  told: '',
}

/** A table in Markdown of all that was measured. */
export function formatTable({ rows, failures }: Results): string {
  const headings = ['figure', 'ours', 'floor', 'ratio', 'spread', 'bound', 'aim', 'verdict']
  const failed = failures.map(({ figure, kind, message }) => [
    figure,
    '',
    '',
    '',
    '',
    '',
    '',
    `${kind.toUpperCase()}: ${oneLine(message)}`,
  ])
  return format([headings, ...rows.map(cellsOf), ...failed])
}

/**
 * The same without what only says how fast a machine is: ratios, counts and sizes, and how far apart the floor's own
 * rounds lay.
 */
export function formatRatios({ rows, failures, cores, node }: Results): string {
  const headings = ['figure', 'ratio or count', 'spread', 'bound', 'aim', 'verdict', 'spread of the floor']
  const lines = rows
    .filter(({ ratio, clock, verdict }) => ratio !== undefined || !clock || verdict !== 'told')
    .map((row) => {
      const { name, unit, ours, floor, ratio = ours, bound, aim } = row
      const value = row.ratio === undefined ? `${number(ours.median)} ${unit}` : `${number(ratio.median)} ×`
      const noise = floor === undefined || !row.clock ? '' : `${Math.round(relativeSpread(floor) * 100)} %`
      return [name, value.trim(), spread(ratio), limit(bound, row.guard), limit(aim), WORDS[row.verdict], noise]
    })
  const failed = failures.map(({ figure, kind, message }) => [
    figure,
    '',
    '',
    '',
    '',
    `${kind.toUpperCase()}: ${oneLine(message)}`,
    '',
  ])
  return `${cores} cores, Node ${node}.\n\n${format([headings, ...lines, ...failed])}`
}

// Each on a line of its own.
const MARKS = { from: '\n<!-- results -->\n', to: '\n<!-- /results -->' } as const

/** Throws where the text has no place for it. */
export function putBetweenMarks(text: string, results: string): string {
  const [before, after] = [text.indexOf(MARKS.from), text.indexOf(MARKS.to)]
  if (before < 0 || after < before)
    throw new Error(`there must be ${MARKS.from.trim()} and ${MARKS.to.trim()}, each on its own line`)
  return `${text.slice(0, before)}${MARKS.from}\n${results}\n${text.slice(after)}`
}

function format(cells: readonly string[][]): string {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const rule = widths.map((width) => '-'.repeat(width))
  const [headings = [], ...lines] = cells
  return [headings, rule, ...lines].map((line) => formatLine(line, widths)).join('\n')
}

function formatLine(line: readonly string[], widths: readonly number[]): string {
  return `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
}

function cellsOf({ name, unit, ours, floor, ratio, bound, aim, guard, verdict, noisyFloor }: Row): string[] {
  return [
    name,
    `${number(ours.median)} ${unit}`,
    floor === undefined ? '' : `${number(floor.median)} ${unit}`,
    ratio === undefined ? '' : number(ratio.median),
    spread(ratio ?? ours),
    limit(bound, guard),
    limit(aim),
    `${WORDS[verdict]}${noisyFloor ? ' (noisy floor)' : ''}`,
  ]
}

/** Between which the middle half of the rounds lies, and how far that is in parts of the median. */
function spread(summary: Summary): string {
  const { q1, q3 } = summary
  return q1 === q3 ? '' : `${number(q1)}–${number(q3)} (${Math.round(relativeSpread(summary) * 100)} %)`
}

function limit(asked: Limit | undefined, guard = false): string {
  if (asked === undefined) return ''
  const text = 'atMost' in asked ? `≤ ${number(asked.atMost)}` : `≥ ${number(asked.atLeast)}`
  return guard ? `${text} (guard)` : text
}

function number(value: number): string {
  const size = Math.abs(value)
  if (size > 0 && size < 0.1) return value.toFixed(3)
  return value.toFixed(size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2)
}

function oneLine(message: string): string {
  return message.replace(/\s+/g, ' ').replaceAll('|', '/').slice(0, 200)
}
