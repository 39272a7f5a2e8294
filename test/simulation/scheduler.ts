import type { Clock } from '../../src/ports/clock.ts'

/** Something that can happen next. */
export interface Step {
  label: string
  /** The instance that it happens in; it does not while that one is frozen. Undefined: out in the world. */
  owner: string | undefined
  /** Not before this moment. */
  at: number
  order: number
  run: () => void
}

/**
 * All that can happen, and the time. Nothing happens by itself: one step is run, then every promise that can go on goes
 * on, and then the next step is chosen by somebody else.
 */
export interface Scheduler {
  now(): number
  add(step: Omit<Step, 'order'>): Step
  cancel(step: Step): void
  /** In the order in which they became possible. */
  possible(): Step[]
  /** When the next step becomes possible, if time is all that is missing. */
  nextAt(): number | undefined
  moveTo(at: number): void
  run(step: Step): Promise<void>
  freeze(owner: string): void
  thaw(owner: string): void
  /** Its steps happen no more. */
  forget(owner: string): void
  /** As the owner's own clock: it may be ahead. */
  clockOf(owner: string | undefined, skewMs?: number): Clock
  pending(): Step[]
}

const START = Date.parse('2026-03-01T08:00:00Z')

export function createScheduler(): Scheduler {
  const steps = new Set<Step>()
  const frozen = new Set<string>()
  const forgotten = new Set<string>()
  let now = START
  let order = 0

  const canRun = ({ owner }: Step) => owner === undefined || !frozen.has(owner)

  function add(step: Omit<Step, 'order'>): Step {
    const added = { ...step, order: order++ }
    if (step.owner === undefined || !forgotten.has(step.owner)) steps.add(added)
    return added
  }

  return {
    now: () => now,
    add,
    cancel: (step) => void steps.delete(step),
    possible() {
      const found: Step[] = []
      for (const step of steps) if (step.at <= now && canRun(step)) found.push(step)
      return found.sort((a, b) => a.at - b.at || a.order - b.order)
    },
    nextAt() {
      let next: number | undefined
      for (const step of steps) if (canRun(step) && (next === undefined || step.at < next)) next = step.at
      return next
    },
    moveTo(at) {
      now = Math.max(now, at)
    },
    async run(step) {
      steps.delete(step)
      step.run()
      await settled()
    },
    freeze: (owner) => void frozen.add(owner),
    thaw: (owner) => void frozen.delete(owner),
    forget(owner) {
      forgotten.add(owner)
      for (const step of steps) if (step.owner === owner) steps.delete(step)
    },
    clockOf: (owner, skewMs = 0) => ({
      now: () => now + skewMs,
      after(ms, run) {
        const step = add({
          label: owner === undefined ? 'timer' : `timer of ${owner}`,
          owner,
          at: now + Math.max(0, ms),
          run,
        })
        return () => void steps.delete(step)
      },
    }),
    pending: () => [...steps],
  }
}

/** The event loop comes round only when no promise has anything left to do; nothing else uses it meanwhile. */
export function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
