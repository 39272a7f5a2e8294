import t from 'tap'
import { recordedDecisions } from '../recorded-decisions.ts'
import { search } from '../search.ts'
import { shrink } from '../shrink-history.ts'
import { STAGES } from '../stage.ts'
import { CLUSTER_MUTATIONS } from './cluster-mutations.ts'
import { type ClusterDecisions, playClusterHistory } from './play-cluster-history.ts'
import { randomClusterDecisions } from './random-cluster-decisions.ts'
import { simplerCluster } from './simpler-cluster.ts'

Error.stackTraceLimit = 0
t.setTimeout(300_000)

t.test(
  'whatever happens to Services, nodes and machines, every rule holds, and every rule was looked at',
  async (t) => {
    const { played, steps, failures, faults, checks } = await search(1, 300, 'kubernetes')
    t.comment(`${played} histories, ${steps} steps, ${total(faults)} disturbances, ${total(checks)} checks`)
    t.same(failures, [], 'npm run simulate -- --world kubernetes --seed N --histories 1 shows the shortest history')
    t.same(
      STAGES.kubernetes.invariants.filter((invariant) => (checks[invariant] ?? 0) === 0),
      [],
    )
  },
)

t.test('a seed is a history: twice the same, and the same again from what was decided', async (t) => {
  for (const seed of [3, 14, 159]) {
    const lines = async (decisions: ClusterDecisions) =>
      (await playClusterHistory(decisions, { keepLines: true })).journal.lines
    const decisions = randomClusterDecisions(seed)
    const first = await lines(decisions)
    t.ok(first.length > 50)
    t.same(await lines(randomClusterDecisions(seed)), first)
    t.same(await lines(recordedDecisions(decisions.history())), first)
  }
})

t.test('a history that fails is cut down to what matters', async (t) => {
  const mutation = CLUSTER_MUTATIONS['a node is deleted while it is Ready'] ?? {}
  for (let seed = 1; seed < 2_000; seed += 1) {
    const decisions = randomClusterDecisions(seed)
    const { violation } = await playClusterHistory(decisions, { mutation })
    if (violation === undefined) continue
    const history = decisions.history()
    const play = (again: ClusterDecisions) => playClusterHistory(again, { mutation })
    const shrunk = await shrink(history, violation, { play, simpler: simplerCluster })
    t.comment(`${history.entries.length} entries, ${shrunk.history.entries.length} left after ${shrunk.tried} tries`)
    t.ok(shrunk.history.entries.length <= Math.min(6, history.entries.length))
    const again = await play(recordedDecisions(shrunk.history))
    t.equal(again.violation, shrunk.violation, 'and it still fails')
    return
  }
  t.fail('none failed')
})

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
