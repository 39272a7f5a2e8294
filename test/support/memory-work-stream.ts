import type { Delivery, StoredState, WorkStream } from '../../src/adapters/jetstream/work-stream.ts'
import { CatalogueError } from '../../src/domain/catalogue-error.ts'
import type { Clock } from '../../src/ports/clock.ts'

export interface MemoryWorkStream extends WorkStream {
  buried: { subject: string; body: string; reason: string }[]
  /** States held now. */
  size(): number
}

interface Entry extends StoredState {
  subject: string
  times: number
  /** Nobody has it, so that it can be handed out. */
  free: boolean
  cancel: () => void
}

/** A work stream that is lost with the process, on any clock: what a real one does, contract-tested beside it. */
export function createMemoryWorkStream(options: {
  clock: Clock
  capacity: number
  ackWaitMs: number
}): MemoryWorkStream {
  const { clock, capacity, ackWaitMs } = options
  const entries = new Map<string, Entry>()
  const ids = new Set<string>()
  const pulls = new Set<() => void>()
  const buried: MemoryWorkStream['buried'] = []
  let sequence = 0

  function wake(): void {
    for (const pull of [...pulls]) pull()
  }

  function release(entry: Entry, afterMs: number): void {
    entry.cancel()
    entry.cancel = clock.after(afterMs, () => {
      entry.free = true
      wake()
    })
  }

  function handOut(entry: Entry): Delivery {
    const { subject, sequence: own, body } = entry
    entry.free = false
    entry.times += 1
    release(entry, ackWaitMs)
    const current = () => (entries.get(subject) === entry && !entry.free ? entry : undefined)
    return {
      subject,
      sequence: own,
      body,
      times: entry.times,
      done() {
        if (current() === undefined) return
        entry.cancel()
        entries.delete(subject)
      },
      again(afterMs) {
        if (current() !== undefined) release(entry, afterMs)
      },
      working() {
        if (current() !== undefined) release(entry, ackWaitMs)
      },
    }
  }

  return {
    buried,
    size: () => entries.size,
    async put(subject, body, { after, id }) {
      if (ids.has(id)) return 'stored'
      const known = entries.get(subject)
      if ((known?.sequence ?? 0) !== after) return 'moved'
      if (known === undefined && entries.size >= capacity)
        throw new CatalogueError('QueueFull', `${capacity} keys are waiting`, { afterMs: 1_000 })
      known?.cancel()
      sequence += 1
      ids.add(id)
      entries.delete(subject)
      entries.set(subject, { subject, body, sequence, times: 0, free: true, cancel: () => {} })
      wake()
      return 'stored'
    },
    async last(subject) {
      const known = entries.get(subject)
      return known === undefined ? undefined : { sequence: known.sequence, body: known.body }
    },
    async pull(limit, take, signal) {
      const ready = () => [...entries.values()].filter(({ free }) => free).slice(0, limit)
      while (ready().length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const resume = () => {
            pulls.delete(resume)
            signal.removeEventListener('abort', resume)
            resolve()
          }
          pulls.add(resume)
          signal.addEventListener('abort', resume)
        })
      }
      if (!signal.aborted) for (const entry of ready()) take(handOut(entry))
    },
    async bury(subject, body, reason) {
      buried.push({ subject, body, reason })
    },
  }
}
