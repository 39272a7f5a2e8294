import { CatalogueError } from '../../domain/catalogue-error.ts'
import { formatKey } from '../../domain/object-key.ts'
import { mergePlans, type PlannedWork, planned } from '../../domain/planned-work.ts'
import { nextPass, type WorkResult } from '../../domain/requeue.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import { attemptWork } from '../../flow/attempt-work.ts'
import { QUEUE_METRICS } from '../../flow/queue-metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { WorkedQueue, WorkHandler } from '../../ports/work-queue.ts'
import { deadline } from '../../reconcilers/deadline.ts'

export interface MemoryWorkQueueOptions {
  /** Keys worked on at one time. */
  concurrency: number
  /** Keys held at most; one more is refused with `QueueFull`. */
  capacity: number
  /** For one pass. */
  workDeadlineMs: number
  clock: Clock
  logger: Logger
  metrics: Metrics
}

const LABELS = { name: 'memory' }

interface Entry extends PlannedWork {
  failures: number
  running: boolean
  /** What was added while a pass was running: the next pass. */
  next: PlannedWork | undefined
  cancelTimer: () => void
}

/** Per key one entry and at most one pass at a time; additions are merged. Everything is lost with the process. */
export function createMemoryWorkQueue(options: MemoryWorkQueueOptions): WorkedQueue {
  const { clock, logger, metrics, concurrency, capacity, workDeadlineMs } = options
  const entries = new Map<string, Entry>()
  const ready = new Set<string>()
  const stopping = new AbortController()
  let handler: WorkHandler | undefined
  let running = 0
  let drainUntil: number | undefined
  let onProgress = () => {}

  async function add(item: WorkItem, { afterMs = 0 }: { afterMs?: number } = {}): Promise<void> {
    if (drainUntil !== undefined)
      throw new CatalogueError('Draining', 'this instance is shutting down', { afterMs: 1_000 })
    const added = planned(item, afterMs, clock.now())
    const entry = entries.get(formatKey(item.key))
    if (entry === undefined) {
      if (entries.size >= capacity)
        throw new CatalogueError('QueueFull', `${capacity} keys are waiting`, { afterMs: 1_000 })
      hold({ ...added, failures: 0, running: false, next: undefined, cancelTimer: () => {} })
    } else if (entry.running) {
      entry.next = mergePlans(entry.next, added)
    } else {
      const { item: merged, dueAt } = mergePlans(entry, added)
      const isSooner = dueAt < entry.dueAt
      entry.item = merged
      entry.dueAt = dueAt
      if (isSooner) schedule(entry)
    }
    metrics.count(QUEUE_METRICS.adds.name, LABELS)
  }

  function hold(entry: Entry): void {
    entries.set(formatKey(entry.item.key), entry)
    schedule(entry)
  }

  function schedule(entry: Entry): void {
    entry.cancelTimer()
    if (stopping.signal.aborted) return
    const key = formatKey(entry.item.key)
    const waitMs = entry.dueAt - clock.now()
    if (waitMs > 0) {
      entry.cancelTimer = clock.after(waitMs, () => makeReady(key))
    } else {
      entry.cancelTimer = () => {}
      makeReady(key)
    }
  }

  function makeReady(key: string): void {
    ready.add(key)
    pump()
  }

  function pump(): void {
    while (handler !== undefined && running < concurrency) {
      const [key] = ready
      if (key === undefined) return
      ready.delete(key)
      const entry = entries.get(key)
      if (entry !== undefined && !entry.running) void pass(key, entry, handler)
    }
  }

  async function pass(key: string, entry: Entry, handle: WorkHandler): Promise<void> {
    entry.running = true
    running += 1
    metrics.observe(QUEUE_METRICS.queueDuration.name, (clock.now() - entry.dueAt) / 1_000, LABELS)
    const limit = deadline(clock, workDeadlineMs, stopping.signal)
    const result = await attemptWork(handle, entry.item, limit.signal, logger)
    limit.cancel()
    running -= 1
    entry.running = false
    finish(key, entry, result)
    pump()
    onProgress()
  }

  function finish(key: string, entry: Entry, result: WorkResult): void {
    const now = clock.now()
    const again = nextPass(entry.item, result, entry.failures, now)
    const own = again === undefined ? undefined : planned(again.item, again.afterMs, now)
    const following = own === undefined ? entry.next : mergePlans(entry.next, own)
    if (again?.failed) metrics.count(QUEUE_METRICS.retries.name, LABELS)
    if (following === undefined) {
      entries.delete(key)
      return
    }
    const failures = again === undefined ? 0 : entry.failures + (again.failed ? 1 : 0)
    hold({ ...following, failures, running: false, next: undefined, cancelTimer: () => {} })
  }

  function isDrained(): boolean {
    const due = [...entries.values()].some((entry) => entry.running || entry.dueAt <= (drainUntil ?? 0))
    return !due
  }

  let drained: Promise<{ left: number }> | undefined

  async function finishWithin(deadlineMs: number): Promise<{ left: number }> {
    drainUntil = clock.now() + deadlineMs
    await new Promise<void>((resolve) => {
      const cancel = clock.after(deadlineMs, resolve)
      onProgress = () => {
        if (!isDrained()) return
        cancel()
        resolve()
      }
      onProgress()
    })
    stopping.abort(new Error('shutting down'))
    for (const entry of entries.values()) entry.cancelTimer()
    handler = undefined
    const left = entries.size
    if (left > 0) logger.warn({ left }, 'keys left to the next sweep')
    return { left }
  }

  return {
    add,
    start(work) {
      handler = work
      pump()
    },
    drain(deadlineMs) {
      drained ??= finishWithin(deadlineMs)
      return drained
    },
    size: () => entries.size,
    waiting() {
      const due = [...ready].flatMap((key) => entries.get(key)?.dueAt ?? [])
      const since = due.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY)
      return due.length === 0 ? { keys: 0 } : { keys: due.length, since }
    },
  }
}
