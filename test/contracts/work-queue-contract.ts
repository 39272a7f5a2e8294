import fc from 'fast-check'
import type { Test } from 'tap'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Cause } from '../../src/domain/cause.ts'
import { formatKey, type ObjectKey } from '../../src/domain/object-key.ts'
import type { Outcome } from '../../src/domain/outcome.ts'
import type { WorkResult } from '../../src/domain/requeue.ts'
import type { Hint, WorkItem } from '../../src/domain/work-item.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { WorkQueue } from '../../src/ports/work-queue.ts'

/** A queue that nobody works on yet. */
export interface QueueUnderTest {
  queue: WorkQueue
  clock: Clock
  /** Moves time on, or lets it pass. */
  advance(ms: number): Promise<void>
  start(work: (item: WorkItem, signal: AbortSignal) => Promise<WorkResult>): void
  drain(deadlineMs: number): Promise<{ left: number }>
}

export interface QueueOptions {
  concurrency: number
  capacity: number
  workDeadlineMs: number
}

/** Where queues differ, and why. */
export interface QueueTraits {
  /**
   * What waits is kept outside the process. So a drain finishes what was begun and leaves the rest to whoever comes next;
   * and the hints of a pass that is under way stay with what is added meanwhile, should the process die.
   */
  durable: boolean
  /**
   * Additions of one key become one pass, and a key has one pass at a time. A broker carries each event by itself, to
   * whatever instance; there the lock keeps passes apart.
   */
  merges: boolean
  /** It decides when the next pass is, and how many run at a time. A broker does so by its own delivery settings. */
  schedules: boolean
  /** It refuses new keys when it holds too many. How much a broker holds is the broker's business. */
  bounded: boolean
}

export const MEMORY_TRAITS: QueueTraits = { durable: false, merges: true, schedules: true, bounded: true }

export type OpenQueue = (options: QueueOptions) => QueueUnderTest | Promise<QueueUnderTest>

/** One pass over one key, as the worker saw it. */
interface Pass {
  key: string
  /** The resourceVersions in its hints: in these tests they tell additions apart. */
  hints: string[]
  /** Milliseconds since the work began. */
  at: number
  signal: AbortSignal
}

type Work = (item: WorkItem, pass: Pass) => WorkResult | Promise<WorkResult>

const settled: WorkResult = { outcome: { kind: 'settled' }, waiting: [] }
const failedWith = (code: 'ApiFailed' | 'ApiDenied'): WorkResult => ({
  outcome: { kind: 'failed', error: new CatalogueError(code, 'as told') },
  waiting: [],
})
const later = (afterMs: number): WorkResult => ({ outcome: { kind: 'later', afterMs, reason: 'as told' }, waiting: [] })

const key = (name: string): ObjectKey => ({ kind: 'MultiClusterIngress', namespace: 'shop', name })

function hint(name: string, id: string): Hint {
  return { object: key(name), operation: 'UPDATE', oldResourceVersion: id }
}

/** `item('a', '1', '2')`: key a with two hints. */
function item(name: string, ...ids: string[]): WorkItem {
  return { key: key(name), hints: ids.map((id) => hint(name, id)) }
}

/** What every `WorkQueue` with a worker behind it does. `open` is called anew for each part. */
export function workQueueContract(t: Test, open: OpenQueue, traits: QueueTraits = MEMORY_TRAITS): void {
  const { durable } = traits
  async function setUp(options: Partial<QueueOptions> = {}, work: Work = () => settled) {
    const subject = await open({ concurrency: 4, capacity: 100, workDeadlineMs: 60_000, ...options })
    const passes: Pass[] = []
    let began = 0
    const say: { work: Work } = { work }
    return {
      ...subject,
      passes,
      say,
      /** `a 0`, `b 5000`: which key, and when. */
      seen: () => passes.map(({ key, at }) => `${key} ${at}`),
      pause: (ms: number) => new Promise<void>((resolve) => void subject.clock.after(ms, resolve)),
      start() {
        began = subject.clock.now()
        subject.start(async (item, signal) => {
          const hints = item.hints.map(({ oldResourceVersion }) => oldResourceVersion ?? 'at once').sort()
          const pass = { key: item.key.name, hints, at: subject.clock.now() - began, signal }
          passes.push(pass)
          return say.work(item, pass)
        })
      },
    }
  }

  /** Of a queue with these traits. */
  function part(title: string, needs: (keyof QueueTraits)[], body: (t: Test) => Promise<void>): void {
    const missing = needs.filter((trait) => !traits[trait])
    t.test(title, missing.length > 0 ? { skip: `the queue does not have the trait: ${missing.join(', ')}` } : {}, body)
  }

  part('additions of one key are one pass with all their hints', ['merges'], async (t) => {
    const { queue, start, advance, passes } = await setUp()
    await queue.add(item('a', '1'))
    await queue.add(item('b'))
    await queue.add(item('a', '2'))
    await queue.add(item('a', '1'))
    await queue.add(item('a'))
    start()
    await advance(1)
    const byKey = passes.toSorted((a, b) => a.key.localeCompare(b.key))
    t.match(byKey, [
      { key: 'a', hints: ['1', '2', 'at once'] },
      { key: 'b', hints: [] },
    ])
    await advance(1_000_000)
    t.equal(passes.length, 2, 'and what is settled is forgotten')
  })

  part('what asked for work comes along with it', [], async (t) => {
    const { queue, start, advance, say } = await setUp()
    const causes: Cause[] = [1, 2].map((at) => ({
      at,
      trace: { traceparent: `00-${'a'.repeat(32)}-${String(at).repeat(16)}-01`, tracestate: 'vendor=one' },
    }))
    for (const cause of causes) await queue.add({ ...item('a', `${cause.at}`), causes: [cause] })
    const seen: Cause[] = []
    let passes = 0
    say.work = (work) => {
      passes += 1
      seen.push(...(work.causes ?? []))
      return settled
    }
    start()
    await advance(100)
    t.strictSame(
      seen.toSorted((a, b) => a.at - b.at),
      causes,
      `in ${passes} passes`,
    )
  })

  part('what asked for work that failed still asks for its retry', ['schedules'], async (t) => {
    const { queue, start, advance, say } = await setUp()
    const seen: (Cause[] | undefined)[] = []
    say.work = (work) => {
      seen.push(work.causes)
      return seen.length === 1 ? failedWith('ApiFailed') : settled
    }
    await queue.add({ ...item('a'), causes: [{ at: 1 }] })
    start()
    await advance(6_000)
    t.strictSame(seen, [[{ at: 1 }], [{ at: 1 }]])
    await queue.add(item('a'))
    await advance(100)
    t.strictSame(seen.slice(2), [undefined], 'and not for what comes after')
  })

  part(
    'a key is worked on by one at a time; what is added meanwhile is looked at afterwards',
    ['merges', 'schedules'],
    async (t) => {
      const { queue, start, advance, passes, seen, say, pause } = await setUp()
      say.work = async () => {
        await pause(1_000)
        return settled
      }
      start()
      await queue.add(item('a', '1'))
      await advance(500)
      await queue.add(item('a', '2'))
      await queue.add(item('a', '3'))
      await queue.add(item('b', '4'))
      await advance(10_000)
      t.same(seen(), ['a 0', 'b 500', 'a 1000'])
      t.same(passes[2]?.hints, durable ? ['1', '2', '3'] : ['2', '3'])
    },
  )

  part('an addition waits as long as it says, or less when another is sooner', ['merges', 'schedules'], async (t) => {
    const { queue, start, advance, passes, seen } = await setUp()
    start()
    await queue.add(item('late', '1'), { afterMs: 10_000 })
    await queue.add(item('moved', '1'), { afterMs: 10_000 })
    await queue.add(item('moved', '2'), { afterMs: 2_000 })
    await queue.add(item('kept', '1'), { afterMs: 3_000 })
    await queue.add(item('kept', '2'), { afterMs: 20_000 })
    await queue.add(item('now', '1'), { afterMs: 9_000 })
    await queue.add(item('now', '2'))
    await advance(100_000)
    t.same(seen(), ['now 0', 'moved 2000', 'kept 3000', 'late 10000'])
    t.same(
      passes.map(({ hints }) => hints.join()),
      ['1,2', '1,2', '1,2', '1'],
    )
  })

  part('a delayed addition during a pass keeps its delay', ['merges', 'schedules'], async (t) => {
    const { queue, start, advance, seen, say, pause } = await setUp()
    say.work = async () => {
      await pause(1_000)
      return settled
    }
    start()
    await queue.add(item('a'))
    await advance(500)
    await queue.add(item('a'), { afterMs: 5_000 })
    await advance(100_000)
    t.same(seen(), ['a 0', 'a 5500'])
  })

  part('failures are tried again after 5 s, twice as long each time, 300 s at most', ['schedules'], async (t) => {
    const { queue, start, advance, seen, passes, say } = await setUp({}, () => failedWith('ApiFailed'))
    start()
    await queue.add(item('a'))
    await advance(1_300_000)
    const gaps = passes.slice(1).map(({ at }, index) => (at - (passes[index]?.at ?? 0)) / 1_000)
    t.same(gaps, [5, 10, 20, 40, 80, 160, 300, 300, 300])

    say.work = () => settled
    await advance(400_000)
    passes.length = 0
    say.work = () => (passes.length === 1 ? failedWith('ApiFailed') : settled)
    await queue.add(item('a'))
    await advance(100_000)
    const [first, second, ...rest] = seen().map((line) => Number(line.split(' ')[1]))
    t.equal((second ?? 0) - (first ?? 0), 5_000, 'success has reset it')
    t.same(rest, [])
  })

  part('a new event cuts a backoff short, but does not reset it', ['merges', 'schedules'], async (t) => {
    const { queue, start, advance, seen } = await setUp({}, () => failedWith('ApiFailed'))
    start()
    await queue.add(item('a'))
    await advance(6_000)
    await queue.add(item('a', '1'))
    await advance(25_000)
    t.same(seen(), ['a 0', 'a 5000', 'a 6000', 'a 26000'])
  })

  part('what is not finished is looked at when it says, and counts as no failure', ['schedules'], async (t) => {
    const answers = [later(1_000), later(0), later(30_000), failedWith('ApiFailed')]
    const { queue, start, advance, seen } = await setUp({}, () => answers.shift() ?? settled)
    start()
    await queue.add(item('a'))
    await advance(1_000_000)
    t.same(seen(), ['a 0', 'a 1000', 'a 1000', 'a 31000', 'a 36000'])
  })

  part('a wait that is no number is a long one, not a loop', ['schedules'], async (t) => {
    for (const afterMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const answers = [later(afterMs)]
      const { queue, start, advance, passes } = await setUp({}, () => answers.shift() ?? settled)
      start()
      await queue.add(item('a'))
      await advance(60_000)
      t.equal(passes.length, 1, `${afterMs}`)
      await advance(600_000)
      t.equal(passes.length, 2)
    }
  })

  t.test('a terminal failure is left alone until somebody asks again', async (t) => {
    const { queue, start, advance, passes } = await setUp({}, () => failedWith('ApiDenied'))
    start()
    await queue.add(item('a'))
    await advance(1_000_000)
    t.equal(passes.length, 1)
    await queue.add(item('a'))
    await advance(1_000_000)
    t.equal(passes.length, 2)
  })

  part('hints that are still waited for come back', ['schedules'], async (t) => {
    const answers: WorkResult[] = [
      { outcome: { kind: 'ignored', reason: 'not visible yet' }, waiting: [hint('a', '2')] },
      { outcome: failedWith('ApiFailed').outcome, waiting: [hint('a', '2')] },
    ]
    const { queue, start, advance, passes } = await setUp({}, () => answers.shift() ?? settled)
    start()
    await queue.add(item('a', '1', '2'))
    await advance(100_000)
    t.same(
      passes.map(({ hints }) => hints.join()),
      ['1,2', '2', '2,at once'],
    )
  })

  part('no more keys at a time than there are workers', ['schedules'], async (t) => {
    let running = 0
    let most = 0
    const { queue, start, advance, seen, pause } = await setUp({ concurrency: 3 }, async () => {
      running += 1
      most = Math.max(most, running)
      await pause(1_000)
      running -= 1
      return settled
    })
    start()
    for (let index = 0; index < 10; index += 1) await queue.add(item(`k${index}`))
    await advance(100_000)
    t.equal(most, 3)
    t.equal(seen().at(-1), 'k9 3000')
  })

  part('what waits holds no worker', ['schedules'], async (t) => {
    const { queue, start, advance, seen } = await setUp({ concurrency: 1 }, ({ key }) =>
      key.name === 'broken' ? failedWith('ApiFailed') : settled,
    )
    start()
    await queue.add(item('broken'))
    await queue.add(item('early'), { afterMs: 60_000 })
    await advance(100)
    await queue.add(item('a'))
    await advance(100)
    t.same(seen(), ['broken 0', 'a 100'])
  })

  t.test('a pass is told when its time is up', async (t) => {
    const { queue, start, advance, passes } = await setUp({ workDeadlineMs: 2_000 }, async (_item, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return failedWith('ApiFailed')
    })
    start()
    await queue.add(item('a'))
    await advance(1_999)
    t.notOk(passes[0]?.signal.aborted)
    await advance(1)
    t.ok(passes[0]?.signal.aborted)
    await advance(5_000)
    t.ok(traits.schedules ? passes.length === 2 : passes.length > 1, 'and tried again')
  })

  part('a full queue refuses new keys and takes what it knows', ['bounded'], async (t) => {
    const { queue, start, advance, seen, passes } = await setUp({ capacity: 2 })
    await queue.add(item('a', '1'))
    await queue.add(item('b'), { afterMs: 1_000 })
    await t.rejects(queue.add(item('c')), { code: 'QueueFull', retry: 'after', afterMs: 1_000 })
    await queue.add(item('a', '2'))
    start()
    await advance(1)
    t.same(passes[0]?.hints, ['1', '2'])
    await queue.add(item('c'))
    await advance(100_000)
    t.same(seen(), ['a 0', 'c 1', 'b 1000'])
  })

  part('draining finishes what is due and takes nothing more', ['schedules'], async (t) => {
    const { queue, start, advance, drain, seen, pause } = await setUp({ concurrency: 1 }, async () => {
      await pause(1_000)
      return settled
    })
    start()
    await queue.add(item('a'))
    await queue.add(item('b'))
    await queue.add(item('soon'), { afterMs: 5_000 })
    await queue.add(item('late'), { afterMs: 60_000 })
    await advance(500)
    const drained = drain(10_000)
    await t.rejects(queue.add(item('c')), { code: 'Draining', retry: 'after', afterMs: 1_000 })
    await advance(5_500)
    const left = durable ? 0 : 1
    t.same(await drained, { left }, 'as soon as only later work is left')
    t.same(seen(), durable ? ['a 0'] : ['a 0', 'b 1000', 'soon 5000'])
    await t.rejects(queue.add(item('c')), { code: 'Draining' })
    t.same(await drain(10_000), { left }, 'asked again')
    await advance(1_000_000)
    t.equal(seen().length, durable ? 1 : 3, 'nothing is begun afterwards')
  })

  t.test('draining with nothing to do is done', async (t) => {
    const { start, drain } = await setUp()
    start()
    t.same(await drain(60_000), { left: 0 })
  })

  part('draining ends at its deadline and tells who is still at work', ['schedules'], async (t) => {
    const { queue, start, advance, drain, passes, seen, pause } = await setUp({ concurrency: 1 }, async () => {
      await pause(30_000)
      return failedWith('ApiFailed')
    })
    start()
    await queue.add(item('slow'))
    await queue.add(item('next'))
    await advance(100)
    const drained = drain(2_000)
    await advance(1_900)
    t.notOk(passes[0]?.signal.aborted)
    await advance(100)
    t.same(await drained, { left: durable ? 0 : 2 })
    t.ok(passes[0]?.signal.aborted)
    await advance(1_000_000)
    t.same(seen(), ['slow 0'])
  })

  part('a worker that throws loses neither the key nor itself', ['schedules'], async (t) => {
    const unhandled: unknown[] = []
    const note = (reason: unknown) => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    t.teardown(() => void process.off('unhandledRejection', note))
    const broken = [
      () => {
        throw new Error('thrown')
      },
      () => Promise.reject(new Error('rejected')),
      () => Promise.reject(undefined),
    ]
    const { queue, start, advance, passes, seen } = await setUp({ concurrency: 1 }, ({ key }) =>
      key.name === 'broken' ? (broken.shift()?.() ?? settled) : settled,
    )
    start()
    await queue.add(item('broken', '1'))
    await queue.add(item('a'))
    await advance(1_000_000)
    t.same(seen(), ['broken 0', 'a 0', 'broken 5000', 'broken 15000', 'broken 35000'])
    t.ok(
      passes.filter(({ key }) => key === 'broken').every(({ hints }) => hints.includes('1')),
      'with what was hinted',
    )
    t.same(unhandled, [])
  })

  t.test(
    'each addition is followed by a pass with its hints, though the first ones fail or are not finished',
    async (t) => {
      const answers = [
        () => failedWith('ApiFailed'),
        () => later(1_000),
        () => {
          throw new Error('thrown')
        },
      ]
      const { queue, start, advance, passes, say } = await setUp({}, () => (answers.shift() ?? (() => settled))())
      start()
      await queue.add(item('a', '1'))
      await advance(300_000)
      t.equal(passes.length, 4)
      say.work = () => settled
      passes.length = 0
      await queue.add(item('a', '2'))
      await queue.add(item('b'), { afterMs: 30_000 })
      await advance(300_000)
      t.ok(passes.some(({ key, hints }) => key === 'a' && hints.includes('2')))
      t.ok(passes.some(({ key }) => key === 'b'))
    },
  )

  t.test('whatever happens in whatever order, nothing is lost and no key has two passes at a time', async (t) => {
    await fc.assert(
      fc.asyncProperty(schedules(), async (schedule) => {
        const faults = await playSchedule(schedule, open, traits)
        if (faults.length > 0) throw new Error(faults.join('\n'))
      }),
      { numRuns: 1_000 },
    )
    t.pass('1,000 schedules')
  })
}

type Step = { do: 'add'; key: string; afterMs: number } | { do: 'advance'; ms: number }

interface Schedule {
  concurrency: number
  steps: Step[]
  /** Of one pass after another; then all are settled at once. */
  works: { takesMs: number; ends: Outcome['kind'] | 'denied' | 'throws' }[]
}

function schedules(): fc.Arbitrary<Schedule> {
  const names = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), key: names, afterMs: fc.constantFrom(0, 0, 100, 5_000, 40_000) }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(0, 1, 100, 4_999, 60_000) }),
  )
  const ends = fc.constantFrom(...(['settled', 'gone', 'ignored', 'later', 'failed', 'denied', 'throws'] as const))
  return fc.record({
    concurrency: fc.integer({ min: 1, max: 3 }),
    steps: fc.array(step, { minLength: 1, maxLength: 20 }),
    works: fc.array(fc.record({ takesMs: fc.constantFrom(0, 0, 50, 7_000), ends }), { maxLength: 15 }),
  })
}

function resultOf(ends: Schedule['works'][number]['ends']): WorkResult {
  switch (ends) {
    case 'throws':
      throw new Error('as told')
    case 'failed':
      return failedWith('ApiFailed')
    case 'denied':
      return failedWith('ApiDenied')
    case 'later':
      return later(100)
    case 'ignored':
      return { outcome: { kind: 'ignored', reason: 'as told' }, waiting: [] }
    default:
      return { outcome: { kind: ends }, waiting: [] }
  }
}

/** What went wrong, if anything. */
async function playSchedule(
  { concurrency, steps, works }: Schedule,
  open: OpenQueue,
  { merges, schedules }: QueueTraits,
): Promise<string[]> {
  const { queue, clock, advance, start, drain } = await open({ concurrency, capacity: 100, workDeadlineMs: 1_000_000 })
  const faults: string[] = []
  const running = new Set<string>()
  /** The hints of which no pass has come to an end. */
  const waiting = new Set<string>()
  const firstDue = new Map<string, number>()
  const upcoming = [...works]
  start(async ({ key, hints }) => {
    const name = formatKey(key)
    if (merges && running.has(name)) faults.push(`two passes over ${name}`)
    running.add(name)
    if (schedules && running.size > concurrency) faults.push(`${running.size} passes at a time`)
    if (schedules && clock.now() < (firstDue.get(name) ?? 0)) faults.push(`${name} before it was due`)
    firstDue.set(name, 0)
    const { takesMs, ends } = upcoming.shift() ?? { takesMs: 0, ends: 'settled' }
    if (takesMs > 0) await new Promise<void>((resolve) => void clock.after(takesMs, resolve))
    running.delete(name)
    const result = resultOf(ends)
    for (const { oldResourceVersion = '' } of hints) waiting.delete(oldResourceVersion)
    return result
  })
  for (const [index, step] of steps.entries()) {
    if (step.do === 'advance') await advance(step.ms)
    else {
      const id = String(index)
      const name = formatKey(key(step.key))
      waiting.add(id)
      const due = clock.now() + step.afterMs
      firstDue.set(name, Math.min(firstDue.get(name) ?? due, due))
      await queue.add(item(step.key, id), { afterMs: step.afterMs })
    }
  }
  await advance(2_000_000)
  for (const id of waiting) faults.push(`step ${id} was never worked on`)
  const { left } = await drain(0)
  if (left > 0) faults.push(`${left} keys left`)
  return faults
}
