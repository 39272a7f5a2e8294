import type { Clock } from '../ports/clock.ts'

/**
 * A signal that aborts after `ms`, or with the parent. Call `cancel` when the work is done. One is made for every call to
 * a provider: a listener costs a fraction of `AbortSignal.any`.
 */
export function deadline(clock: Clock, ms: number, parent?: AbortSignal): { signal: AbortSignal; cancel: () => void } {
  const controller = new AbortController()
  const follow = () => controller.abort(parent?.reason)
  const stop = clock.after(ms, () => controller.abort(new Error(`deadline of ${ms} ms reached`)))
  if (parent?.aborted) follow()
  else parent?.addEventListener('abort', follow, { once: true })
  const cancel = () => {
    stop()
    parent?.removeEventListener('abort', follow)
  }
  return { signal: controller.signal, cancel }
}
