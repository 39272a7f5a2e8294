import { Worker } from 'node:worker_threads'
import { addFound, type Found, nothingFound } from './search.ts'
import type { Stretch } from './search-worker.ts'
import type { WorldChoice } from './stage.ts'

export interface SearchOptions {
  firstSeed: number
  histories: number
  world: WorldChoice
  workers: number
  /** How many seeds a worker is given at a time. */
  stretch?: number
  /** The safeguard that is taken out. */
  without?: string | undefined
  /** Whether what was found is enough. */
  isEnough?: (found: Found) => boolean
  onProgress?: (found: Found) => void
}

/** Stretches of seeds to whoever is free; what is found is the same whoever it was. */
export function searchAll(options: SearchOptions): Promise<Found> {
  const { firstSeed, histories, workers, world, stretch = 100, without } = options
  const { isEnough = () => false, onProgress = () => {} } = options
  const sum = nothingFound()
  const last = firstSeed + histories
  const count = Math.min(workers, Math.ceil(histories / stretch))
  let next = firstSeed
  return new Promise((resolve, reject) => {
    let open = count
    for (let index = 0; index < count; index += 1) {
      const worker = new Worker(new URL('./search-worker.ts', import.meta.url))
      const hand = () => {
        const from = next
        next = Math.min(last, next + stretch)
        const seeds: Stretch = { from, count: next - from, world, ...(without && { without }) }
        if (from < last && !isEnough(sum)) return worker.postMessage(seeds)
        open -= 1
        worker.terminate().catch(reject)
        if (open === 0) resolve(sum)
      }
      worker.on('error', reject)
      worker.on('message', (found: Found) => {
        addFound(sum, found)
        onProgress(sum)
        hand()
      })
      hand()
    }
  })
}
