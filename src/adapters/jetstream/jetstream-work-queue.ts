import { CatalogueError } from '../../domain/catalogue-error.ts'
import { formatKey } from '../../domain/object-key.ts'
import { mergePlans, planned } from '../../domain/planned-work.ts'
import { type NextPass, nextPass, type WorkResult } from '../../domain/requeue.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import { attemptWork } from '../../flow/attempt-work.ts'
import { QUEUE_METRICS } from '../../flow/queue-metrics.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { WorkedQueue, WorkHandler } from '../../ports/work-queue.ts'
import { deadline } from '../../reconcilers/deadline.ts'
import { decodeWork, encodeWork, type StoredWork } from './stored-work.ts'
import type { Delivery, StoredState, WorkStream } from './work-stream.ts'
import { workSubject } from './work-subject.ts'

export interface JetStreamWorkQueueOptions {
  stream: WorkStream
  /** Of the subjects, one for each key. */
  subjectPrefix: string
  /** Keys worked on at one time in this process. */
  concurrency: number
  /** For one pass. */
  workDeadlineMs: number
  /** After this time without a word the stream hands a key to another process. */
  ackWaitMs: number
  /** What was handed out so often without an answer has killed its workers: it goes to the dead letters. */
  maxDeliveries: number
  /** Unlike every other that ever was. */
  newId: () => string
  clock: Clock
  logger: Logger
  metrics: Metrics
}

const LABELS = { name: 'jetstream' }

/** A key that is worked on here. */
interface Pass {
  delivery: Delivery
  work: StoredWork
  /** A newer state of the key, which came meanwhile. */
  next: Delivery | undefined
}

/**
 * The stream holds one state a key: hints, due time, failures. Whoever changes it replaces exactly the state that it knows,
 * so nothing is lost between two processes; a result replaces the state it was worked out from in the same way. Each
 * state is handed to one process at a time; what is not due yet is handed back until it is. What came while a key is
 * worked on is looked at afterwards, here or elsewhere: the lock keeps two processes apart.
 */
export function createJetStreamWorkQueue(options: JetStreamWorkQueueOptions): WorkedQueue {
  const { stream, subjectPrefix, concurrency, workDeadlineMs, ackWaitMs, maxDeliveries, newId } = options
  const { clock, logger, metrics } = options
  const passes = new Map<string, Pass>()
  const stopping = new AbortController()
  const givingUp = new AbortController()
  let isDraining = false
  const waiting: (() => void)[] = []
  let drained: Promise<{ left: number }> | undefined

  async function add(item: WorkItem, { afterMs = 0 }: { afterMs?: number } = {}): Promise<void> {
    if (isDraining) throw new CatalogueError('Draining', 'this instance is shutting down', { afterMs: 1_000 })
    const added = planned(item, afterMs, clock.now())
    await replace(workSubject(subjectPrefix, item.key), (known, isRunning) => ({
      // What runs here is not waiting any more; its hints stay, should it not come to its end.
      ...mergePlans(known && (isRunning ? { ...known, dueAt: Number.POSITIVE_INFINITY } : known), added),
      failures: known?.failures ?? 0,
    }))
    metrics.count(QUEUE_METRICS.adds.name, LABELS)
  }

  /** Puts a new state in the place of whatever is there, and answers which that was. */
  async function replace(
    subject: string,
    next: (known: StoredWork | undefined, isRunning: boolean) => StoredWork,
    first?: StoredState,
  ): Promise<number> {
    const id = newId()
    let known = first
    for (;;) {
      const after = known?.sequence ?? 0
      const isRunning = known !== undefined && passes.get(subject)?.delivery.sequence === after
      const body = encodeWork(next(known && decodeWork(known.body), isRunning))
      if ((await stream.put(subject, body, { after, id })) === 'stored') return after
      known = await stream.last(subject)
    }
  }

  async function pullForEver(handle: WorkHandler): Promise<void> {
    while (!stopping.signal.aborted) {
      const free = concurrency - passes.size
      if (free > 0) await stream.pull(free, (delivery) => receive(delivery, handle), stopping.signal)
      else await progress()
    }
  }

  function progress(): Promise<void> {
    return new Promise((resolve) => void waiting.push(resolve))
  }

  function tellProgress(): void {
    for (const resolve of waiting.splice(0)) resolve()
  }

  function receive(delivery: Delivery, handle: WorkHandler): void {
    const work = decodeWork(delivery.body)
    const waitMs = (work?.dueAt ?? 0) - clock.now()
    const running = passes.get(delivery.subject)
    if (isDraining) delivery.again(0)
    else if (work === undefined) void bury(delivery, 'not a state of ours')
    else if (delivery.times > maxDeliveries) void bury(delivery, `handed out ${delivery.times} times without an answer`)
    else if (waitMs > 0) delivery.again(waitMs)
    else if (running === undefined) void pass({ delivery, work, next: undefined }, handle)
    else running.next = delivery
  }

  async function pass(mine: Pass, handle: WorkHandler): Promise<void> {
    const { delivery, work } = mine
    const { subject } = delivery
    passes.set(subject, mine)
    metrics.observe(QUEUE_METRICS.queueDuration.name, Math.max(0, clock.now() - work.dueAt) / 1_000, LABELS)
    const limit = deadline(clock, workDeadlineMs, givingUp.signal)
    const stopTelling = tellWorking(mine)
    const result = await attemptWork(handle, work.item, limit.signal, logger)
    limit.cancel()
    if (givingUp.signal.aborted) return stopTelling()
    await finish(mine, result)
    stopTelling()
    passes.delete(subject)
    if (mine.next !== undefined) resume(mine.next, result, handle)
    tellProgress()
  }

  /** Success has reset the failures that the newer state still carries. */
  function resume(delivery: Delivery, { outcome }: WorkResult, handle: WorkHandler): void {
    const work = decodeWork(delivery.body)
    const isDue = work !== undefined && work.dueAt <= clock.now()
    const failures = outcome.kind === 'failed' ? (work?.failures ?? 0) : 0
    if (isDraining || !isDue) receive(delivery, handle)
    else void pass({ delivery, work: { ...work, failures }, next: undefined }, handle)
  }

  function tellWorking(mine: Pass): () => void {
    let cancel = () => {}
    const tell = () => {
      mine.delivery.working()
      mine.next?.working()
      cancel = clock.after(ackWaitMs / 3, tell)
    }
    cancel = clock.after(ackWaitMs / 3, tell)
    return () => cancel()
  }

  /** When the stream cannot be told, it hands the state out once more. */
  async function finish(mine: Pass, result: WorkResult): Promise<void> {
    const { delivery, work } = mine
    const again = nextPass(work.item, result, work.failures, clock.now())
    try {
      if (again !== undefined) await comeBack(mine, again)
      else if (result.outcome.kind === 'failed')
        await stream.bury(delivery.subject, delivery.body, result.outcome.error.message)
      delivery.done()
    } catch (error) {
      logger.warn({ key: formatKey(work.item.key), error: String(error) }, 'result not stored: it is worked out again')
      delivery.again(1_000)
    }
  }

  async function comeBack(mine: Pass, again: NextPass): Promise<void> {
    const { delivery, work, next } = mine
    const own = planned(again.item, again.afterMs, clock.now())
    const failures = work.failures + (again.failed ? 1 : 0)
    if (again.failed) metrics.count(QUEUE_METRICS.retries.name, LABELS)
    const merge = (known: StoredWork | undefined, isOwn: boolean) => ({
      ...(isOwn ? own : mergePlans(known, own)),
      failures,
    })
    const replaced = await replace(delivery.subject, merge, delivery)
    if (next === undefined || next.sequence > replaced) return
    // What came meanwhile is part of the new state.
    next.done()
    if (mine.next === next) mine.next = undefined
  }

  async function bury(delivery: Delivery, reason: string): Promise<void> {
    logger.error({ subject: delivery.subject, reason }, 'to the dead letters')
    try {
      await stream.bury(delivery.subject, delivery.body, reason)
      delivery.done()
    } catch {
      delivery.again(1_000)
    }
  }

  /** What is not begun stays in the stream, for whoever comes next. */
  async function finishWithin(deadlineMs: number): Promise<{ left: number }> {
    isDraining = true
    stopping.abort(new Error('shutting down'))
    const over = new Promise<void>((resolve) => void clock.after(deadlineMs, resolve))
    while (passes.size > 0) {
      const isOver = await Promise.race([progress().then(() => false), over.then(() => true)])
      if (isOver) break
    }
    givingUp.abort(new Error('shutting down'))
    for (const { delivery, next } of passes.values()) {
      delivery.again(0)
      next?.again(0)
    }
    passes.clear()
    return { left: 0 }
  }

  return {
    add,
    start: (handle) => void pullForEver(handle),
    drain(deadlineMs) {
      drained ??= finishWithin(deadlineMs)
      return drained
    },
    size: () => passes.size,
    // What waits is in the stream.
    waiting: () => ({ keys: 0 }),
  }
}
