import type { Kind } from '../../domain/kinds.ts'
import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { outcomeToRequeue } from '../../domain/requeue.ts'
import type { Flow } from '../flow.ts'
import { FLOW_METRICS } from '../flow-metrics.ts'
import { type Known, type KnownReader, knownReader } from '../known-reader.ts'
import { reconcileKey } from '../reconcile-key.ts'
import type { SweptEntry } from './plan-page.ts'
import type { SweepPass } from './sweep-pass.ts'
import type { SweepProgress } from './sweep-progress.ts'

/** Works on entries of one page after the other, on so many at a time. */
export interface EntryWork {
  /** Until each has begun or time runs out; the progress tells which was begun last. */
  begin(page: { entries: readonly SweptEntry[]; known: Known }): Promise<void>
  /** Until each that has begun is done. */
  finish(): Promise<void>
}

export function createEntryWork(
  progress: SweepProgress,
  { report, flow, sweeping, settings, signal, isVerificationDue }: SweepPass,
): EntryWork {
  const running = new Set<Promise<void>>()

  async function reconcile(key: ObjectKey, reader: KnownReader): Promise<void> {
    const outcome = await reconcileKey(key, flow, { reader, isOfList: true, signal, isVerificationDue })
    report.outcomes[outcome.kind] += 1
    if ('acted' in outcome && outcome.acted === true) {
      flow.metrics.count(FLOW_METRICS.foundBySweep.name, { controller: key.kind })
    }
    await comeBack(key, outcome, flow)
  }

  function start(key: ObjectKey, reader: KnownReader): void {
    const work = reconcile(key, reader).finally(() => running.delete(work))
    running.add(work)
  }

  /** A fault of one object, or of what is said of it, is met once more by its pass, which tells; all others go on. */
  function isSettled({ key, object }: SweptEntry, reader: KnownReader): boolean {
    try {
      return sweeping[key.kind]?.isSettled(key, object, reader) === true
    } catch {
      return false
    }
  }

  function countSettled(settled: ReadonlyMap<Kind, number>): void {
    for (const [controller, count] of settled) {
      report.outcomes.settled += count
      flow.metrics.count(FLOW_METRICS.reconciles.name, { controller, result: 'success' }, count)
    }
  }

  return {
    async begin({ entries, known }) {
      const reader = knownReader(flow.reader, known)
      const settled = new Map<Kind, number>()
      for (const entry of entriesAfter(progress.position.after, entries)) {
        const { key } = entry
        if (flow.reconcilers[key.kind] === undefined) continue
        while (running.size >= settings.concurrency) await Promise.race(running)
        if (signal.aborted) break
        progress.begun = key
        if (isSettled(entry, reader)) {
          settled.set(key.kind, (settled.get(key.kind) ?? 0) + 1)
        } else start(key, reader)
      }
      countSettled(settled)
    },
    async finish() {
      await Promise.all(running)
    },
  }
}

/** All of them when that one is not there any more: what is done twice costs reads and nothing else. */
function entriesAfter(after: string | undefined, entries: readonly SweptEntry[]): readonly SweptEntry[] {
  return after === undefined ? entries : entries.slice(entries.findIndex(({ key }) => formatKey(key) === after) + 1)
}

/** What is not finished goes to the queue, to be done before the next sweep; when the queue cannot take it, that sweep does. */
async function comeBack(key: ObjectKey, outcome: Outcome, { queue, logger }: Flow): Promise<void> {
  const requeue = outcomeToRequeue(outcome, 0)
  if (requeue === undefined) return
  try {
    await queue.add({ key, hints: [] }, { afterMs: requeue.afterMs })
  } catch (error) {
    logger.info({ error: String(error) }, 'left to the next sweep')
  }
}
