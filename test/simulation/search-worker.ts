import { parentPort } from 'node:worker_threads'
import { MUTATIONS, type MutationName } from './mutations.ts'
import { search } from './search.ts'

/** A stretch of seeds, and the safeguard that is taken out, if any. */
export interface Stretch {
  from: number
  count: number
  without?: MutationName
}

// Errors are part of the game; their stacks cost more than the game.
Error.stackTraceLimit = 0

parentPort?.on('message', ({ from, count, without }: Stretch) => {
  const mutation = without === undefined ? {} : MUTATIONS[without]
  void search(from, count, mutation).then((found) => parentPort?.postMessage(found))
})
