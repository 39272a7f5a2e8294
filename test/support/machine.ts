import type { Clock } from '../../src/ports/clock.ts'
import type { ManualClock } from './manual-clock.ts'

/** Where a process runs: its clock may be wrong, and it may stand still for a while. */
export interface Machine {
  clock: Clock
  frozen(): boolean
  freeze(): void
  /** What fell due meanwhile happens now, in order; then what was received. */
  thaw(): void
  /** Resolves at once, or when the machine goes on: what comes from outside comes through here. */
  awake(): Promise<void>
}

export function createMachine(world: ManualClock, { skewMs, rate }: { skewMs: number; rate: number }): Machine {
  const start = world.now()
  let isFrozen = false
  let due: (() => void)[] = []
  let waiting: (() => void)[] = []
  return {
    clock: {
      now: () => Math.floor(start + skewMs + (world.now() - start) * rate),
      after(ms, callback) {
        let isCancelled = false
        const run = () => {
          if (!isCancelled) callback()
        }
        const cancel = world.after(Math.ceil(ms / rate), () => {
          if (isFrozen) due.push(run)
          else run()
        })
        return () => {
          isCancelled = true
          cancel()
        }
      },
    },
    frozen: () => isFrozen,
    freeze() {
      isFrozen = true
    },
    thaw() {
      isFrozen = false
      const [timers, received] = [due, waiting]
      due = []
      waiting = []
      for (const timer of timers) timer()
      for (const resume of received) resume()
    },
    awake: () => (isFrozen ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve()),
  }
}
