import { availableParallelism } from 'node:os'
import t from 'tap'
import { MUTATIONS, type MutationName } from './mutations.ts'
import { searchAll, startSearchers } from './search-all.ts'

t.setTimeout(600_000)

// A range in which each of them is found: the rarest shows in one of some seven thousand histories.
const FIRST_SEED = 8_001
const MOST_HISTORIES = 2_000
const searchers = startSearchers(availableParallelism())
t.teardown(() => searchers.close())

for (const without of Object.keys(MUTATIONS) as MutationName[]) {
  t.test(`${without}: the simulation notices`, async (t) => {
    const { failures } = await searchAll({
      firstSeed: FIRST_SEED,
      histories: MOST_HISTORIES,
      world: 'karmada',
      searchers,
      stretch: 20,
      without,
      isEnough: ({ failures }) => failures.length > 0,
    })
    const [first] = failures.sort((a, b) => a.seed - b.seed)
    t.ok(first, first === undefined ? `not in ${MOST_HISTORIES} histories` : `seed ${first.seed}: ${first.violation}`)
  })
}
