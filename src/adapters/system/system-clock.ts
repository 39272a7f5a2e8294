import type { Clock } from '../../ports/clock.ts'

/** The machine's clock. Its timers do not keep the process alive. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    after(ms, callback) {
      let timer: NodeJS.Timeout
      const wait = (left: number) => {
        const step = Math.min(left, LONGEST_TIMER_MS)
        timer = setTimeout(() => (left > step ? wait(left - step) : callback()), step)
        timer.unref()
      }
      wait(ms)
      return () => clearTimeout(timer)
    },
  }
}

// Node fires a longer one at once.
const LONGEST_TIMER_MS = 2 ** 31 - 1
