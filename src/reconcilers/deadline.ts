import type { Clock } from '../ports/clock.ts'

/** A signal that aborts after `ms`, or with the parent. Call `cancel` when the work is done. */
export function deadline(clock: Clock, ms: number, parent?: AbortSignal): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController()
  const cancel = clock.after(ms, () => controller.abort(new Error(`deadline of ${ms} ms reached`)))
  const signal = parent === undefined ? controller.signal : AbortSignal.any([controller.signal, parent])
  return { signal, cancel }
}
