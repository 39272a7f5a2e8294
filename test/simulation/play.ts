import type { Decisions } from './decisions.ts'
import { createJournal, type Journal } from './journal.ts'
import { createScheduler, type Scheduler, settled } from './scheduler.ts'

export interface Played {
  /** Undefined when everything held. */
  violation: string | undefined
  journal: Journal
  steps: number
}

/** A control plane, a cloud, and the instances of the function between them. */
export interface World<A> {
  beforeStep(): void
  afterStep(): void
  perform(action: A): void
  /** Everybody lives and is awake. */
  heal(): void
  sweep(instance: number): void
  /** Another value after every write of the function, and after every change of the cloud. */
  changes(): unknown
  /** Instances that hold a lock. */
  busy(): number[]
  /** Names of what does not exist. */
  absent(): string[]
  /** Nothing of it is kept in memory. */
  close(): void
}

export interface WorldParts<S, A> {
  scheduler: Scheduler
  decisions: Decisions<S, A>
  journal: Journal
}

/** Which world, and what has to be true when it has come to rest. */
export interface Stage<S, A, W extends World<A>> {
  createWorld(parts: WorldParts<S, A>): W
  checkEnd(world: W, setting: S, journal: Journal): void
}

export interface PlayOptions<W> {
  keepLines?: boolean
  /** Looks at the world when it has come to rest. */
  atRest?: (world: W) => void
}

export const RESTS = 'a quiet world comes to rest: a sweep writes nothing and changes nothing in the cloud'

/** A history too long to be one. */
const MOST_STEPS = 40_000
const ROUNDS = 10
// More than a minute by every clock: the server tells its time in whole seconds, and answers are late.
export const BETWEEN_SWEEPS_MS = 65_000

/** Plays one history to its end: first everything that happens, then quiescence. The same decisions, the same history. */
export async function play<S, A extends { do: string }, W extends World<A>>(
  decisions: Decisions<S, A>,
  stage: Stage<S, A, W>,
  options: PlayOptions<W> = {},
): Promise<Played> {
  const scheduler = createScheduler()
  const journal = createJournal({ keepLines: options.keepLines ?? false, now: scheduler.now })
  let isQuiet = false
  const calm: Decisions<S, A> = {
    setting: decisions.setting,
    action: () => 'end',
    pick: (at, possible) => (isQuiet ? 0 : decisions.pick(at, possible)),
    api: (call) => (isQuiet ? undefined : decisions.api(call)),
    cloud: (call) => (isQuiet ? undefined : decisions.cloud(call)),
    review: (call) => (isQuiet ? undefined : decisions.review(call)),
  }
  const world = stage.createWorld({ scheduler, decisions: calm, journal })
  const run = createRun(scheduler, world, calm, journal)
  await settled()
  await actOut(run, scheduler, world, decisions)
  isQuiet = true
  await comeToRest(run, scheduler, world, journal)
  if (journal.violation === undefined) stage.checkEnd(world, decisions.setting, journal)
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

function createRun(
  scheduler: Scheduler,
  world: Pick<World<never>, 'beforeStep' | 'afterStep'>,
  decisions: Pick<Decisions, 'pick'>,
  journal: Journal,
): Run {
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

async function actOut<S, A extends { do: string }>(
  run: Run,
  scheduler: Scheduler,
  world: World<A>,
  decisions: Decisions<S, A>,
): Promise<void> {
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
    if (isPause(action)) pausedUntil = scheduler.now() + action.ms
    world.beforeStep()
    world.perform(action)
    await settled()
    world.afterStep()
  }
}

function isPause(action: { do: string }): action is { do: 'pause'; ms: number } {
  return action.do === 'pause'
}

/** No more faults; everybody lives; sweeps until nothing changes. */
async function comeToRest<A>(run: Run, scheduler: Scheduler, world: World<A>, journal: Journal): Promise<void> {
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
    const before = world.changes()
    journal.say(`SWEEP ${round}`)
    world.sweep(round)
    await drain(BETWEEN_SWEEPS_MS)
    journal.checked(RESTS)
    if (world.changes() === before && round > 0) return
  }
  if (journal.violation === undefined) journal.violated(RESTS, `not after ${ROUNDS} sweeps`)
}
