import { availableParallelism } from 'node:os'
import t from 'tap'
import type { Found } from '../search.ts'
import { searchAll, startSearchers } from '../search-all.ts'
import { CLUSTER_MUTATIONS } from './cluster-mutations.ts'

t.setTimeout(600_000)

const MOST_HISTORIES = 2_000
const searchers = startSearchers(availableParallelism())
t.teardown(() => searchers.close())

for (const [without, { breaks }] of Object.entries(CLUSTER_MUTATIONS)) {
  t.test(`${without}: the simulation notices`, async (t) => {
    const due = ({ failures }: Found) => failures.filter(({ violation }) => violation.startsWith(breaks))
    const found = await searchAll({
      firstSeed: 1,
      histories: MOST_HISTORIES,
      world: 'kubernetes',
      searchers,
      stretch: 20,
      without,
      isEnough: (found) => due(found).length > 0,
    })
    const [first] = due(found).sort((a, b) => a.seed - b.seed)
    t.ok(first, first === undefined ? `not in ${MOST_HISTORIES} histories` : `seed ${first.seed}: ${first.violation}`)
  })
}
