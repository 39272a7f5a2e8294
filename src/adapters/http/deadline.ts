import type { Clock } from '../../ports/clock.ts'
import { deadline } from '../../reconcilers/deadline.ts'

/** Runs `work` with a signal that aborts after `ms`; the clock is released in every case. */
export async function withDeadline<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, cancel } = deadline(clock, ms)
  try {
    return await work(signal)
  } finally {
    cancel()
  }
}
