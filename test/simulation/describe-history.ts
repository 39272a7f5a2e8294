import type { Mutation } from './mutation.ts'
import { playHistory } from './play-history.ts'
import { recordedDecisions } from './recorded-decisions.ts'
import type { Shrunk } from './shrink-history.ts'

/** The shortest history that fails, what is in it, every step of it, and how to see it again. */
export async function describeHistory(
  { history, violation, tried }: Shrunk,
  { mutation, without }: { mutation: Mutation; without: string | undefined },
): Promise<string> {
  const { journal } = await playHistory(recordedDecisions(history), { mutation, keepLines: true })
  const end = journal.lines.findIndex((line) => line.includes('VIOLATED'))
  return [
    `seed ${history.seed} fails: ${violation}`,
    `the shortest history found (${tried} tried) has ${history.entries.length} entries:`,
    `  world: ${JSON.stringify(history.setting)}`,
    ...history.entries.map((entry) => `  ${JSON.stringify(entry)}`),
    'step by step:',
    ...journal.lines.slice(0, end < 0 ? undefined : end + 1),
    `again: npm run simulate -- --seed ${history.seed} --histories 1${without === undefined ? '' : ` --without "${without}"`}`,
  ].join('\n')
}
