import type { Clock } from '../../ports/clock.ts'

/** Runs `work` with a signal that aborts after `ms`; the clock is always released. */
export async function withDeadline<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const cancel = clock.after(ms, () => controller.abort(new Error(`the deadline of ${ms} ms passed`)))
  try {
    return await work(controller.signal)
  } finally {
    cancel()
  }
}
