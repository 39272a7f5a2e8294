import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { crashMatrix, formatRow, formatSize } from './crash-matrix.ts'
import { describeHistory } from './describe-history.ts'
import { RESTS } from './play.ts'
import type { Found } from './search.ts'
import { searchAll, startSearchers } from './search-all.ts'
import { CONTROL_PLANES, STAGES, stageFor, type WorldChoice } from './stage.ts'

// Errors are part of the game; their stacks cost more than the game.
Error.stackTraceLimit = 0

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
    world: { type: 'string', default: 'mixed' },
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

const { without } = values
const world = worldChoice(values.world)
const played = world === 'mixed' ? CONTROL_PLANES : [world]
const INVARIANTS = [...played.flatMap((name) => STAGES[name].invariants), RESTS]
const started = performance.now()
let reportedAt = started
const searchers = startSearchers(Math.min(wholeNumber('workers', values.workers), histories))
const total = await searchAll({
  firstSeed,
  histories,
  searchers,
  world,
  without,
  onProgress(found) {
    if (performance.now() - reportedAt < REPORT_MS) return
    reportedAt = performance.now()
    say(`${found.played} of ${histories}, ${speed(found)}, ${found.failures.length} failed`)
  },
})
await searchers.close()
reportCounts(total)
for (const { seed, violation } of total.failures.slice(0, MOST_SHRUNK)) {
  say(`\n${await describeHistory(seed, violation, stageFor(world, seed), without)}`)
}
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

function worldChoice(text: string): WorldChoice {
  const known = (['mixed', ...CONTROL_PLANES] as const).find((name) => name === text)
  if (known === undefined) refuse(`--world: none of mixed, ${CONTROL_PLANES.join(', ')}: ${text}`)
  if (without === undefined) return known
  // A safeguard may be one of one world only.
  const having = CONTROL_PLANES.filter((name) => STAGES[name].safeguards.includes(without))
  if (known === 'mixed' ? having.length > 0 : having.includes(known))
    return having.length === 1 ? (having[0] ?? known) : known
  const names = CONTROL_PLANES.flatMap((name) => STAGES[name].safeguards)
  refuse(`--without: no safeguard "${without}"; known are: ${[...new Set(names)].join(', ')}`)
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
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
  for (const invariant of [...new Set([...INVARIANTS, ...Object.keys(found.checks)])]) {
    say(`${String(found.checks[invariant] ?? 0).padStart(10)}  ${invariant}`)
  }
  say('')
}
