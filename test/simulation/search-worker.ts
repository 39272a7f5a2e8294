import { parentPort } from 'node:worker_threads'
import { search, type WorldChoice } from './search.ts'

// Errors are part of the game; their stacks cost more than the game.
Error.stackTraceLimit = 0

parentPort?.on('message', ({ from, count, world }: { from: number; count: number; world: WorldChoice }) => {
  void search(from, count, world).then((found) => parentPort?.postMessage(found))
})
