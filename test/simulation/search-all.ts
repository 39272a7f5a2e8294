import { Worker } from 'node:worker_threads'
import { addFound, type Found, nothingFound } from './search.ts'
import type { Stretch } from './search-worker.ts'
import type { WorldChoice } from './stage.ts'

export interface SearchOptions {
  firstSeed: number
  histories: number
  world: WorldChoice
  searchers: Searchers
  /** How many seeds one is given at a time. */
  stretch?: number
  /** The safeguard that is taken out. */
  without?: string | undefined
  /** Whether what was found is enough. */
  isEnough?: (found: Found) => boolean
  onProgress?: (found: Found) => void
}

/** Threads that search; one search after another may use them. */
export interface Searchers {
  workers: readonly Worker[]
  close(): Promise<void>
}

export function startSearchers(count: number): Searchers {
  const workers = Array.from({ length: count }, () => new Worker(new URL('./search-worker.ts', import.meta.url)))
  return {
    workers,
    async close() {
      await Promise.all(workers.map((worker) => worker.terminate()))
    },
  }
}

/** Stretches of seeds to whoever is free; what is found is the same whoever it was. */
export function searchAll(options: SearchOptions): Promise<Found> {
  const { firstSeed, histories, searchers, world, stretch = 100, without } = options
  const { isEnough = () => false, onProgress = () => {} } = options
  const sum = nothingFound()
  const last = firstSeed + histories
  let next = firstSeed
  return new Promise((resolve, reject) => {
    let open = searchers.workers.length
    for (const worker of searchers.workers) {
      const onMessage = (found: Found) => {
        addFound(sum, found)
        onProgress(sum)
        hand()
      }
      const hand = () => {
        const from = next
        next = Math.min(last, next + stretch)
        const seeds: Stretch = { from, count: next - from, world, ...(without && { without }) }
        if (from < last && !isEnough(sum)) return worker.postMessage(seeds)
        open -= 1
        worker.off('message', onMessage).off('error', reject)
        if (open === 0) resolve(sum)
      }
      worker.on('message', onMessage).on('error', reject)
      hand()
    }
  })
}
