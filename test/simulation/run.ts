import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { describeHistory } from './describe-history.ts'
import { RESTS } from './play.ts'
import { addFound, type Found, nothingFound, stageFor, type WorldChoice } from './search.ts'
import { CONTROL_PLANES, STAGES } from './stage.ts'

// Between two reports of progress.
const REPORT_MS = 15_000
const STRETCH = 100
// One is enough to begin with; a few more may be of another kind.
const MOST_SHRUNK = 3

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    world: { type: 'string', default: 'mixed' },
    workers: { type: 'string', default: String(Math.max(1, Math.min(2, availableParallelism()))) },
  },
})
const histories = wholeNumber('histories', values.histories)
const firstSeed = wholeNumber('seed', values.seed)
const world = worldChoice(values.world)
const say = (line: string) => process.stdout.write(`${line}\n`)

const played = world === 'mixed' ? CONTROL_PLANES : [world]
const INVARIANTS = [...played.flatMap((name) => STAGES[name].invariants), RESTS]

const started = performance.now()
const total = await searchAll()
reportCounts(total)
for (const { seed, violation } of total.failures.slice(0, MOST_SHRUNK)) {
  say(`\n${await describeHistory(seed, violation, stageFor(world, seed))}`)
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
  if (known !== undefined) return known
  process.stderr.write(`--world: none of mixed, ${CONTROL_PLANES.join(', ')}: ${text}\n`)
  process.exit(2)
}

/** Stretches of seeds to whoever is free; what is found is the same whoever it was. */
function searchAll(): Promise<Found> {
  const sum = nothingFound()
  const last = firstSeed + histories
  let next = firstSeed
  let reportedAt = started
  const count = Math.min(wholeNumber('workers', values.workers), Math.ceil(histories / STRETCH))
  return new Promise((resolve, reject) => {
    let open = count
    for (let index = 0; index < count; index += 1) {
      const worker = new Worker(new URL('./search-worker.ts', import.meta.url))
      const hand = () => {
        const from = next
        next = Math.min(last, next + STRETCH)
        if (from < last) return worker.postMessage({ from, count: next - from, world })
        open -= 1
        worker.terminate().catch(reject)
        if (open === 0) resolve(sum)
      }
      worker.on('error', reject)
      worker.on('message', (found: Found) => {
        addFound(sum, found)
        if (performance.now() - reportedAt > REPORT_MS) {
          reportedAt = performance.now()
          say(`${sum.played} of ${histories}, ${speed(sum)}, ${sum.failures.length} failed`)
        }
        hand()
      })
      hand()
    }
  })
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
