import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { crashMatrix, formatRow, formatSize } from './crash-matrix.ts'
import { describeHistory } from './describe-history.ts'
import { END_INVARIANTS } from './end-checks.ts'
import { STEP_INVARIANTS } from './invariants.ts'
import { MUTATIONS, type MutationName } from './mutations.ts'
import { playHistory, RESTS } from './play-history.ts'
import { randomDecisions } from './random-decisions.ts'
import type { Found } from './search.ts'
import { searchAll } from './search-all.ts'
import { shrinkHistory } from './shrink-history.ts'

// Between two reports of progress.
const REPORT_MS = 15_000
// One is enough to begin with; a few more may be of another kind.
const MOST_SHRUNK = 3

const { values } = parseArgs({
  options: {
    'crash-matrix': { type: 'boolean', default: false },
    without: { type: 'string' },
    histories: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: String(Math.max(1, Math.min(2, availableParallelism()))) },
  },
})
const histories = wholeNumber('histories', values.histories)
const firstSeed = wholeNumber('seed', values.seed)
const say = (line: string) => process.stdout.write(`${line}\n`)

if (values['crash-matrix']) {
  const rows = await crashMatrix((row) => say(formatRow(row)))
  say(formatSize(rows))
  process.exit(rows.every(({ differences }) => differences.length === 0) ? 0 : 1)
}

const without = safeguard(values.without)
const mutation = without === undefined ? {} : MUTATIONS[without]
const started = performance.now()
let reportedAt = started
const total = await searchAll({
  firstSeed,
  histories,
  workers: wholeNumber('workers', values.workers),
  without,
  onProgress(found) {
    if (performance.now() - reportedAt < REPORT_MS) return
    reportedAt = performance.now()
    say(`${found.played} of ${histories}, ${speed(found)}, ${found.failures.length} failed`)
  },
})
reportCounts(total)
for (const { seed, violation } of total.failures.slice(0, MOST_SHRUNK)) say(`\n${await shortest(seed, violation)}`)
const failed = total.failures.length
if (failed > MOST_SHRUNK) {
  say(
    `\nalso failing: ${total.failures
      .slice(MOST_SHRUNK, 50)
      .map(({ seed }) => seed)
      .join(' ')}`,
  )
}
say(`${total.played - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  process.stderr.write(`--${name}: not a whole number above 0: ${text}\n`)
  process.exit(2)
}

function safeguard(name: string | undefined): MutationName | undefined {
  if (name === undefined || name in MUTATIONS) return name as MutationName | undefined
  process.stderr.write(`--without: no safeguard "${name}"; known are: ${Object.keys(MUTATIONS).join(', ')}\n`)
  process.exit(2)
}

function speed({ played, steps }: Found): string {
  const seconds = (performance.now() - started) / 1_000
  return `${Math.round(played / seconds)} histories/s, ${Math.round(steps / seconds)} steps/s`
}

function reportCounts(found: Found): void {
  say(`${found.played} histories from seed ${firstSeed}, ${found.steps} steps, ${speed(found)}`)
  say('\nwhat happened in them:')
  for (const [kind, count] of Object.entries(found.faults).sort()) say(`${String(count).padStart(10)}  ${kind}`)
  say('\nwhat was checked:')
  for (const invariant of [
    ...Object.values(STEP_INVARIANTS),
    RESTS,
    ...Object.values(END_INVARIANTS),
    ...others(found),
  ]) {
    say(`${String(found.checks[invariant] ?? 0).padStart(10)}  ${invariant}`)
  }
  say('')
}

function others({ checks }: Found): string[] {
  const known: string[] = [...Object.values(STEP_INVARIANTS), RESTS, ...Object.values(END_INVARIANTS)]
  return Object.keys(checks).filter((name) => !known.includes(name))
}

async function shortest(seed: number, violation: string): Promise<string> {
  const decisions = randomDecisions(seed)
  await playHistory(decisions, { mutation })
  return describeHistory(await shrinkHistory(decisions.history(), violation, { mutation }), { mutation, without })
}
