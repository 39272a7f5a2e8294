import t from 'tap'
import { crashRow, formatRow, formatSize, type Row, SCENARIOS, WORLDS } from './crash-matrix.ts'
import { MUTATIONS } from './mutations.ts'

Error.stackTraceLimit = 0
t.setTimeout(300_000)

const rows: Row[] = []

for (const world of WORLDS) {
  for (const scenario of SCENARIOS) {
    t.test(`${scenario.title}: ${world.title}: killed at every step, it ends as if nothing had happened`, async (t) => {
      const row = await crashRow(scenario, world)
      rows.push(row)
      t.same(row.differences, [])
      t.ok(row.steps > 10, `${row.steps} steps`)
    })
  }
}

t.test('without the sweep it would not', async (t) => {
  const [scenario = fail()] = SCENARIOS
  const [world = fail()] = WORLDS
  const { differences } = await crashRow(scenario, world, MUTATIONS['no sweep'])
  t.ok(differences.length > 10, `${differences.length} differences`)
})

function fail(): never {
  throw new Error('nothing to crash')
}

t.test('its size', async (t) => {
  for (const row of rows) t.comment(formatRow(row))
  t.comment(formatSize(rows))
  t.equal(rows.length, SCENARIOS.length * WORLDS.length)
  t.ok(rows.reduce((sum, { kills }) => sum + kills, 0) > 1_500, formatSize(rows))
})
