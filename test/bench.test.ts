import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ASKED, MOST_WRITES, mostReads } from '../bench/bounds.ts'
import { interleaved } from '../bench/rounds.ts'
import { compared, counted, isFarBeyond, type Limit, type Row } from '../bench/row.ts'
import { median, quantile, relativeSpread, summarise } from '../bench/statistics.ts'
import { summariseProfiles } from '../bench/summarise-profiles.ts'
import { formatRatios, formatTable, putBetweenMarks } from '../bench/table.ts'

t.test('a summary has the middle, the middle half, and where the true median lies', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.equal(quantile([10, 20, 30, 40, 50], 0.25), 20)
  t.equal(quantile([10, 20], 0.5), 15)
  t.match(summarise([5, 1, 4, 2, 3]), { median: 3, q1: 2, q3: 4, low: 1, high: 5 }, 'of five nothing may be left out')
  // Binomial: of eleven rounds the second from either end, of fifteen the fourth, of forty-one the fourteenth.
  const interval = (rounds: number) => {
    const { low, high } = summarise(Array.from({ length: rounds }, (_, index) => index + 1))
    return [low, high]
  }
  t.same(interval(11), [2, 10])
  t.same(interval(15), [4, 12])
  t.same(interval(41), [14, 28])
  t.equal(relativeSpread(summarise([1, 2, 3, 4, 5])), 2 / 3)
  t.equal(relativeSpread(summarise([0, 0])), 0, 'nothing is not far apart from nothing')
})

const ROUNDS = [1.4, 1.5, 1.6, 1.5, 1.4, 1.6, 1.5]

t.test('a verdict goes by the median, and is none where the interval reaches over the bound', async (t) => {
  const cases: [ours: number[], bound: Limit | undefined, aim: Limit | undefined, verdict: Row['verdict']][] = [
    [ROUNDS, undefined, undefined, 'told'],
    [ROUNDS, { atMost: 1.5 }, undefined, 'within'],
    [ROUNDS, { atMost: 2 }, { atMost: 1.5 }, 'aim'],
    [ROUNDS, { atMost: 2 }, { atMost: 1.2 }, 'within'],
    [ROUNDS, { atMost: 1.45 }, undefined, 'undecided'],
    [ROUNDS, { atMost: 1.3 }, undefined, 'beyond'],
    [ROUNDS, { atLeast: 1.5 }, { atLeast: 1.6 }, 'within'],
    [ROUNDS, { atLeast: 1.55 }, undefined, 'undecided'],
    [ROUNDS, { atLeast: 1.7 }, undefined, 'beyond'],
    [[0], { atMost: 0 }, undefined, 'within'],
    [[1], { atMost: 0 }, undefined, 'beyond'],
  ]
  for (const [ours, bound, aim, verdict] of cases) {
    const asked = { ...(bound && { bound }), ...(aim && { aim }) }
    t.equal(counted({ name: '', unit: '', ours }, asked).verdict, verdict, `${ours} ${JSON.stringify(asked)}`)
  }
})

t.test('a ratio is taken round by round, so that a slow moment meets both', async (t) => {
  const row = compared(
    { name: 'work', unit: 'ms', ours: [10, 100, 12], floor: [10, 100, 10], clock: true },
    { bound: { atMost: 1.1 } },
  )
  t.equal(row.ratio?.median, 1)
  t.equal(row.verdict, 'within')
  t.equal(row.noisyFloor, true)
})

t.test('far beyond is where not even the kindest value comes near', async (t) => {
  const far = (ours: number[], bound: Limit) => isFarBeyond(counted({ name: '', unit: '', ours }, { bound }))
  t.equal(far([1.7, 1.8, 1.9], { atMost: 1.5 }), false)
  t.equal(far([2.3, 2.4, 2.5], { atMost: 1.5 }), true)
  t.equal(far([2.2, 2.4, 2.5], { atMost: 1.5 }), false, 'the kindest value is 2.2')
  t.equal(far([0.4, 0.5, 0.6], { atLeast: 0.65 }), false)
  t.equal(far([0.3, 0.35, 0.4], { atLeast: 0.65 }), true)
  t.equal(far([1], { atMost: 1.5 }), false)
})

t.test('what has to be reached', async (t) => {
  const { coldStart, notifyDoor, pepr, create, adapter, reconcile, sweep, idle, bundleKb } = ASKED
  const atMost = (bound: number, aim?: number) => ({
    bound: { atMost: bound },
    ...(aim !== undefined && { aim: { atMost: aim } }),
  })
  const atLeast = (bound: number, aim: number) => ({ bound: { atLeast: bound }, aim: { atLeast: aim } })
  t.same(coldStart.door.ms, atMost(1.5, 1.25))
  t.same(coldStart.door.peakRssMb, atMost(1.4, 1.2))
  t.same(coldStart.withClient.ms, atMost(2.5, 2))
  t.same(coldStart.withClient.peakRssMb, atMost(1.8, 1.5))
  t.same(notifyDoor.perSecond, atLeast(0.65, 0.8))
  t.same(notifyDoor.p99, atMost(2.2, 1.5))
  t.same(pepr, { perSecond: atLeast(5, 7), p99: atMost(1 / 5, 1 / 7), coldStart: atMost(1 / 15, 1 / 25) })
  t.same(create, atMost(1.25, 1.1))
  t.same(adapter.newConnections, atMost(0))
  t.same(adapter.perSecond, { 1: atLeast(0.6, 0.9), 10: atLeast(0.45, 0.9) })
  t.same(reconcile.ms, atMost(1.5, 1.2))
  t.same(sweep, { ms: atMost(1.5, 1.2), writes: atMost(0), memory: atMost(1.3) })
  t.same(idle, { requests: atMost(0), cpuPercent: atMost(0.5) })
  t.same(bundleKb, { notify: atMost(500), full: atMost(2_000) })
  t.same(MOST_WRITES, { created: 2, 'updated without effect': 0, 'told of once more': 0, deleted: 3 })
  t.equal(mostReads({ services: 1, secrets: 0 }), 7)
  t.equal(mostReads({ services: 3, secrets: 1 }), 14)
})

t.test('a guard is a bound of the bench alone, and never decided by a clock on the wall', async (t) => {
  const guards = [ASKED.coldStart.door.cpuMs, ASKED.coldStart.withClient.cpuMs, ASKED.notifyDoor.cpu, ASKED.adapter.cpu]
  for (const { guard } of [...guards, ASKED.reconcile.cpu]) t.equal(guard, true)
})

t.test('rounds are interleaved, every other one backwards, and go on while something is undecided', async (t) => {
  const order: string[] = []
  const values = [2, 1, 3, 1, 1, 1, 1, 1]
  const variants = {
    ours: async () => {
      order.push('ours')
      return { ms: order.length === 1 ? 99 : (values.shift() ?? 1) }
    },
    floor: async () => {
      order.push('floor')
      return { ms: 1 }
    },
  }
  const said: string[] = []
  const [row] = await interleaved(
    variants,
    ({ ours, floor }) => [
      compared({ name: 'work', unit: 'ms', ours: ours.ms, floor: floor.ms }, { bound: { atMost: 1.5 } }),
    ],
    { rounds: 3, seconds: 60, log: (line) => said.push(line) },
  )
  t.same(
    order.slice(0, 8),
    ['ours', 'floor', 'ours', 'floor', 'floor', 'ours', 'ours', 'floor'],
    'the first is nobody’s',
  )
  t.match(row, { rounds: 5, verdict: 'within', ratio: { median: 1 } })
  t.same(said, ['undecided after 3 rounds: work'])
})

t.test('without time there are three rounds all the same', async (t) => {
  const variants = { ours: async () => ({ ms: 1 }) }
  const row = ({ ours }: { ours: { ms: number[] } }) => [counted({ name: 'work', unit: 'ms', ours: ours.ms })]
  const [measured] = await interleaved(variants, row, { rounds: 9, seconds: 0, log: () => {} })
  t.equal(measured?.rounds, 3)
})

t.test('tables', async (t) => {
  const rows = [
    compared({ name: 'door', unit: 'ms', ours: [3, 3, 3], floor: [2, 2, 2], clock: true }, { bound: { atMost: 1.2 } }),
    counted({ name: 'writes', unit: '', ours: [0] }, { bound: { atMost: 0 } }),
    counted({ name: 'speed of this machine', unit: 'ms', ours: [7], clock: true }),
  ]
  const failures = [{ figure: 'create', kind: 'failed', message: 'no\n| port' } as const]
  const results = { node: 'v24', cores: 2, seconds: 1, rows, failures }
  const table = formatTable(results)
  t.match(table, /\| door +\| 3 ms +\| 2 ms +\| 1\.50 +\| +\| ≤ 1\.20 +\| +\| BEYOND BOUND/)
  t.match(table, /\| create +\|.*FAILED: no \/ port/)
  const ratios = formatRatios(results)
  t.match(ratios, /\| door +\| 1\.50 × /)
  t.notMatch(ratios, /speed of this machine|\bms\b/, 'nothing that only says how fast a machine is')
  const marks = 'before\n<!-- results -->\nold\n<!-- /results -->\nafter'
  const once = putBetweenMarks(marks, 'new')
  t.equal(once, 'before\n<!-- results -->\n\nnew\n\n<!-- /results -->\nafter')
  t.equal(putBetweenMarks(once, 'new'), once)
  t.throws(() => putBetweenMarks('no place', 'new'), /<!-- results -->/)
  t.ok(putBetweenMarks(readFileSync('bench/README.md', 'utf8'), 'new'), 'the README has a place for it')
})

t.test('profiles are summed up by function', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'profiles-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const frame = (functionName: string, url: string) => ({ functionName, url })
  const [parse, idle] = [frame('parse', 'file:///node_modules/@scope/yaml/index.js'), frame('(idle)', '')]
  const cpu = {
    nodes: [
      { id: 1, callFrame: parse },
      { id: 2, callFrame: idle },
    ],
    samples: [1, 2, 1],
    timeDeltas: [1_000, 50_000, 2_000],
  }
  writeFileSync(join(folder, 'ours.cpuprofile'), JSON.stringify(cpu))
  const head = {
    callFrame: frame('(root)', ''),
    selfSize: 0,
    children: [{ callFrame: parse, selfSize: 2_048, children: [] }],
  }
  writeFileSync(join(folder, 'ours.heapprofile'), JSON.stringify({ head }))
  t.equal(
    summariseProfiles(folder),
    [
      'ours.cpuprofile: 3 ms',
      ' 100.0 %  parse @scope/yaml',
      'ours.heapprofile: 2 KB',
      ' 100.0 %  parse @scope/yaml',
    ].join('\n'),
  )
})
