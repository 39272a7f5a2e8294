import { parentPort } from 'node:worker_threads'
import { search } from './search.ts'
import type { WorldChoice } from './stage.ts'

/** A stretch of seeds, and the safeguard that is taken out, if any. */
export interface Stretch {
  from: number
  count: number
  world: WorldChoice
  without?: string
}

// Errors are part of the game; their stacks cost more than the game.
Error.stackTraceLimit = 0

parentPort?.on('message', ({ from, count, world, without }: Stretch) => {
  void search(from, count, world, without).then((found) => parentPort?.postMessage(found))
})
