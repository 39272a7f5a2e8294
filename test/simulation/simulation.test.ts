import t from 'tap'
import { MUTATIONS } from './mutations.ts'
import { playHistory } from './play-history.ts'
import { randomDecisions } from './random-decisions.ts'
import { recordedDecisions } from './recorded-decisions.ts'
import { search } from './search.ts'
import { shrinkHistory } from './shrink-history.ts'

Error.stackTraceLimit = 0
t.setTimeout(300_000)

t.test('whatever happens, nothing is lost, nothing leaks, one writes', async (t) => {
  const { played, steps, failures, faults, checks } = await search(1, 300, 'karmada')
  t.comment(`${played} histories, ${steps} steps, ${total(faults)} disturbances, ${total(checks)} checks`)
  t.same(failures, [], 'npm run simulate -- --seed N --histories 1 shows the shortest history')
})

t.test('a seed is a history: twice the same, and the same again from what was decided', async (t) => {
  for (const seed of [3, 14, 159]) {
    const lines = async (decisions: Parameters<typeof playHistory>[0]) =>
      (await playHistory(decisions, { keepLines: true })).journal.lines
    const decisions = randomDecisions(seed)
    const first = await lines(decisions)
    t.ok(first.length > 50)
    t.same(await lines(randomDecisions(seed)), first)
    t.same(await lines(recordedDecisions(decisions.history())), first)
  }
})

t.test('a history that fails is cut down to what matters', async (t) => {
  const mutation = MUTATIONS['no read-back of the finalizer']
  for (let seed = 1; seed < 2_000; seed += 1) {
    const decisions = randomDecisions(seed)
    const { violation } = await playHistory(decisions, { mutation })
    if (violation === undefined) continue
    const history = decisions.history()
    const shrunk = await shrinkHistory(history, violation, { mutation })
    t.comment(`${history.entries.length} entries, ${shrunk.history.entries.length} left after ${shrunk.tried} tries`)
    t.ok(shrunk.history.entries.length <= Math.min(8, history.entries.length))
    const again = await playHistory(recordedDecisions(shrunk.history), { mutation })
    t.equal(again.violation, shrunk.violation, 'and it still fails')
    return
  }
  t.fail('none failed')
})

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
