import { setTimeout as pause } from 'node:timers/promises'

/** Asks again until it no longer throws; at the deadline the last failure is thrown. */
export async function eventually<T>(ask: () => T | Promise<T>, withinMs = 10_000, everyMs = 15): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() >= deadline) throw error
    }
    await pause(everyMs)
  }
}
