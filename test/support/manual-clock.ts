import type { Clock } from '../../src/ports/clock.ts'

export interface ManualClock extends Clock {
  /** Moves time on and runs what falls due, in order; between two timers all pending promises are settled. */
  advance(ms: number): Promise<void>
  /** Moves time on to one timer after another until none is left, or until `limitMs` have passed. */
  runUntilQuiet(limitMs?: number): Promise<void>
}

interface Timer {
  at: number
  order: number
  callback: () => void
}

/** A clock that stands still until it is told to move; while `isBusy` it waits for what is under way. */
export function createManualClock(
  start = Date.parse('2026-03-01T08:00:00Z'),
  isBusy: () => boolean = () => false,
): ManualClock {
  let now = start
  let order = 0
  const timers = new Set<Timer>()

  function next(): Timer | undefined {
    return [...timers].sort((a, b) => a.at - b.at || a.order - b.order)[0]
  }

  async function runTimersUntil(end: number): Promise<void> {
    await settle(isBusy)
    for (let timer = next(); timer !== undefined && timer.at <= end; timer = next()) {
      timers.delete(timer)
      now = Math.max(now, timer.at)
      timer.callback()
      await settle(isBusy)
    }
  }

  return {
    now: () => now,
    after(ms, callback) {
      const timer = { at: now + ms, order: order++, callback }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      const end = now + ms
      await runTimersUntil(end)
      now = end
    },
    async runUntilQuiet(limitMs = 3_600_000) {
      await runTimersUntil(now + limitMs)
    },
  }
}

const QUIET_TURNS = 20
// Should what is under way wait for the clock itself.
const MOST_TURNS = 2_000

/** Lets every promise that can go on go on: one turn of the event loop, some of which start others. */
async function settle(isBusy: () => boolean): Promise<void> {
  let quiet = 0
  for (let turn = 0; turn < MOST_TURNS && quiet < QUIET_TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve))
    quiet = isBusy() ? 0 : quiet + 1
  }
}
