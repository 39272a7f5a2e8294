import t from 'tap'
import { CLUSTER_MUTATIONS } from './cluster-mutations.ts'
import { playClusterHistory } from './play-cluster-history.ts'
import { randomClusterDecisions } from './random-cluster-decisions.ts'

Error.stackTraceLimit = 0
t.setTimeout(600_000)

const MOST_HISTORIES = 2_000

for (const [title, { breaks, ...mutation }] of Object.entries(CLUSTER_MUTATIONS)) {
  t.test(`${title}: the simulation notices`, async (t) => {
    for (let seed = 1; seed <= MOST_HISTORIES; seed += 1) {
      const { violation } = await playClusterHistory(randomClusterDecisions(seed), { mutation })
      if (violation === undefined || !violation.startsWith(breaks)) continue
      t.pass(`after ${seed} histories: ${violation}`)
      return
    }
    t.fail(`not in ${MOST_HISTORIES} histories`)
  })
}
