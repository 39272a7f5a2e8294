import { nextTick } from 'node:process'

/**
 * What was just asked of others is sent: a request is put together in promises and written by the next tick, which would
 * else come when this process has nothing to do.
 */
export async function nextTurn(): Promise<void> {
  for (let tick = 0; tick < TICKS; tick += 1) await new Promise<void>((resolve) => nextTick(resolve))
}

// One to write it, and one for what is put together by it.
const TICKS = 2
