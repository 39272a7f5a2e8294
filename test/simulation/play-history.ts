import type { Decisions } from './decisions.ts'
import { checkEnd } from './end-checks.ts'
import { createJournal, type Journal } from './journal.ts'
import type { Mutation } from './mutation.ts'
import { createScheduler, type Scheduler, settled } from './scheduler.ts'
import { createSimWorld, type SimWorld } from './sim-world.ts'

export interface Played {
  /** Undefined when everything held. */
  violation: string | undefined
  journal: Journal
  steps: number
}

export interface PlayOptions {
  mutation?: Mutation
  keepLines?: boolean
  /** Looks at the world when it has come to rest. */
  atRest?: (world: SimWorld) => void
}

export const RESTS = 'a quiet world comes to rest: a sweep writes nothing and changes nothing in the cloud'

/** A history too long to be one. */
const MOST_STEPS = 40_000
const ROUNDS = 10
// More than a minute by every clock: the server tells its time in whole seconds, and answers are late.
const BETWEEN_SWEEPS_MS = 65_000

/** Plays one history to its end: first everything that happens, then quiescence. The same decisions, the same history. */
export async function playHistory(decisions: Decisions, options: PlayOptions = {}): Promise<Played> {
  const scheduler = createScheduler()
  const journal = createJournal({ keepLines: options.keepLines ?? false, now: scheduler.now })
  let isQuiet = false
  const calm: Decisions = {
    setting: decisions.setting,
    action: () => 'end',
    pick: (at, possible) => (isQuiet ? 0 : decisions.pick(at, possible)),
    api: (call) => (isQuiet ? undefined : decisions.api(call)),
    cloud: (call) => (isQuiet ? undefined : decisions.cloud(call)),
    review: (call) => (isQuiet ? undefined : decisions.review(call)),
  }
  const world = createSimWorld({ scheduler, decisions: calm, journal, mutation: options.mutation ?? {} })
  const run = createRun(scheduler, world, calm, journal)
  await settled()
  await actOut(run, scheduler, world, decisions)
  isQuiet = true
  await comeToRest(run, scheduler, world, journal)
  if (journal.violation === undefined) checkEnd(world, decisions.setting, journal)
  options.atRest?.(world)
  const { violation } = journal
  world.close()
  await settled()
  return { violation, journal, steps: run.count() }
}

interface Run {
  count(): number
  /** One step, or the clock's next move, not beyond `until`; false when there is none. */
  next(until?: number): Promise<boolean>
  isOver(): boolean
}

function createRun(scheduler: Scheduler, world: SimWorld, decisions: Decisions, journal: Journal): Run {
  let count = 0
  return {
    count: () => count,
    isOver: () => journal.violation !== undefined || count >= MOST_STEPS,
    async next(until = Number.POSITIVE_INFINITY) {
      const possible = scheduler.possible()
      const step = possible.length === 0 ? undefined : possible[decisions.pick(count, possible.length)]
      if (step !== undefined) {
        count += 1
        world.beforeStep()
        journal.say(step.label)
        await scheduler.run(step)
        world.afterStep()
        return true
      }
      const at = scheduler.nextAt()
      if (at === undefined || at > until) return false
      count += 1
      scheduler.moveTo(at)
      return true
    },
  }
}

async function actOut(run: Run, scheduler: Scheduler, world: SimWorld, decisions: Decisions): Promise<void> {
  let pausedUntil = 0
  while (!run.isOver()) {
    const nextAt = scheduler.nextAt()
    const moment = {
      must: nextAt === undefined,
      isIdle: (nextAt ?? 0) > scheduler.now(),
      busy: world.busy(),
      absent: world.absent(),
    }
    if (scheduler.now() < pausedUntil) {
      if (!(await run.next(pausedUntil))) scheduler.moveTo(pausedUntil)
      continue
    }
    const action = decisions.action(run.count(), moment)
    if (action === 'end') return
    if (action === undefined) {
      await run.next()
      continue
    }
    if (action.do === 'pause') pausedUntil = scheduler.now() + action.ms
    world.beforeStep()
    world.perform(action)
    await settled()
    world.afterStep()
  }
}

/** No more faults; everybody lives; sweeps until nothing changes. */
async function comeToRest(run: Run, scheduler: Scheduler, world: SimWorld, journal: Journal): Promise<void> {
  journal.say('QUIESCENCE')
  const drain = async (ms: number) => {
    const until = scheduler.now() + ms
    while (!run.isOver() && (await run.next(until))) {}
    scheduler.moveTo(until)
  }
  // What is in flight lands, what is dead is started again.
  world.heal()
  await drain(BETWEEN_SWEEPS_MS)
  world.heal()
  for (let round = 0; round < ROUNDS && !run.isOver(); round += 1) {
    const before = world.writes() + world.cloud.version()
    journal.say(`SWEEP ${round}`)
    world.sweep(round)
    await drain(BETWEEN_SWEEPS_MS)
    journal.checked(RESTS)
    if (world.writes() + world.cloud.version() === before && round > 0) return
  }
  if (journal.violation === undefined) journal.violated(RESTS, `not after ${ROUNDS} sweeps`)
}
