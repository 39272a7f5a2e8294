import { parentPort } from 'node:worker_threads'
import { search } from './search.ts'

// Errors are part of the game; their stacks cost more than the game.
Error.stackTraceLimit = 0

parentPort?.on('message', ({ from, count }: { from: number; count: number }) => {
  void search(from, count).then((found) => parentPort?.postMessage(found))
})
