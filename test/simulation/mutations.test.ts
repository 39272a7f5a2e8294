import t from 'tap'
import { MUTATIONS } from './mutations.ts'
import { playHistory } from './play-history.ts'
import { randomDecisions } from './random-decisions.ts'

Error.stackTraceLimit = 0
t.setTimeout(600_000)

const MOST_HISTORIES = 2_000

for (const [title, mutation] of Object.entries(MUTATIONS)) {
  t.test(`${title}: the simulation notices`, async (t) => {
    for (let seed = 1; seed <= MOST_HISTORIES; seed += 1) {
      const { violation } = await playHistory(randomDecisions(seed), { mutation })
      if (violation === undefined) continue
      t.pass(`after ${seed} histories: ${violation}`)
      return
    }
    t.fail(`not in ${MOST_HISTORIES} histories`)
  })
}
