import type { Clock } from '../ports/clock.ts'
import type { HeldLock, Lock } from '../ports/lock.ts'
import type { Metrics } from '../ports/metrics.ts'
import { LOCK_METRICS } from './lock-metrics.ts'

/** The same lock, measured. */
export function observeLock(lock: Lock, { clock, metrics }: { clock: Clock; metrics: Metrics }): Lock {
  function tell(result: 'acquired' | 'held' | 'failed', started: number): void {
    metrics.count(LOCK_METRICS.acquisitions.name, { result })
    metrics.observe(LOCK_METRICS.wait.name, (clock.now() - started) / 1_000, { result })
  }
  return {
    async acquire(key, options) {
      const started = clock.now()
      try {
        const held = await lock.acquire(key, options)
        tell(held === undefined ? 'held' : 'acquired', started)
        return held && observeHeld(held, metrics)
      } catch (error) {
        tell('failed', started)
        throw error
      }
    },
    peek: (key, name, options) => lock.peek(key, name, options),
  }
}

function observeHeld(held: HeldLock, metrics: Metrics): HeldLock {
  return {
    ...held,
    async release() {
      if (held.lost.aborted) metrics.count(LOCK_METRICS.lost.name)
      return held.release()
    },
  }
}
