import type { WatchError } from './watch-error.ts'

/** What to do next, why, and after which pause. */
export type WatchStep = { afterMs: number; reason: string; failures: number } & (
  | { do: 'list' }
  | { do: 'watch'; resourceVersion: string }
)

/** How a list or a watch came to its end. `heard`: something came of it, so that it is not an attempt that failed. */
export type WatchEnding =
  | { how: 'listed'; resourceVersion: string }
  | { how: 'ended'; reason: string; heard: boolean; resourceVersion: string }
  | { how: 'failed'; error: WatchError; heard: boolean; resourceVersion: string | undefined }

// A resourceVersion from which nothing is heard may be what is wrong; a list always works.
const LIST_AFTER_FAILURES = 3

/**
 * | ending | next |
 * |---|---|
 * | listed | watch from there |
 * | ended, in time or cut off | watch from the last event or bookmark |
 * | failed: expired | list |
 * | failed: garbled | watch on, but list when nothing was heard before it |
 * | failed otherwise | the same again; a watch that fails a third time: list |
 *
 * At once after success, else after `backoffMs`, but not before the server wants it.
 */
export function nextWatchStep(
  step: WatchStep,
  ending: WatchEnding,
  backoffMs: (failures: number) => number,
): WatchStep {
  if (ending.how === 'listed') {
    return {
      do: 'watch',
      resourceVersion: ending.resourceVersion,
      afterMs: 0,
      reason: 'listed',
      failures: step.failures,
    }
  }
  const before = ending.heard ? 0 : step.failures
  const failures = ending.how === 'ended' && ending.heard ? 0 : before + 1
  const { resourceVersion } = ending
  const list = resourceVersion === undefined || mustList(ending, failures)
  return {
    ...(list ? { do: 'list' } : { do: 'watch', resourceVersion }),
    afterMs: pauseAfter(ending, before, failures, backoffMs),
    reason: ending.how === 'ended' ? ending.reason : ending.error.message,
    failures,
  }
}

function mustList(ending: Exclude<WatchEnding, { how: 'listed' }>, failures: number): boolean {
  if (ending.how === 'ended') return failures >= LIST_AFTER_FAILURES
  switch (ending.error.fault) {
    case 'expired':
      return true
    case 'garbled':
      return !ending.heard
    case 'refused':
      return failures >= LIST_AFTER_FAILURES
    case 'unreachable':
      return false
  }
}

/** The first sign of a gap is acted upon at once; when that leads to the next one, with patience. */
function pauseAfter(
  ending: Exclude<WatchEnding, { how: 'listed' }>,
  before: number,
  failures: number,
  backoffMs: (failures: number) => number,
): number {
  if (failures === 0) return 0
  if (ending.how === 'ended') return backoffMs(failures)
  const { fault, afterMs = 0 } = ending.error
  return fault === 'expired' && before === 0 ? afterMs : Math.max(afterMs, backoffMs(failures))
}
