import { type Decisions, isApiFault, isCloudFault, isReviewFault } from './decisions.ts'
import type { Action, Fault, History, Setting } from './history.ts'

/** A history once more, or what is left of one: what is not in it does not happen, and comes in order. */
export function recordedDecisions<S = Setting, A = Action>({
  setting,
  entries,
  endsAt = Number.POSITIVE_INFINITY,
}: History<S, A>): Decisions<S, A> {
  const actions: { at: number; action: A }[] = []
  const picks = new Map<number, number>()
  const faults = new Map<string, Fault>()
  for (const entry of entries) {
    if ('action' in entry) actions.push(entry)
    else if ('pick' in entry) picks.set(entry.at, entry.pick)
    else faults.set(entry.call, entry.fault)
  }
  const upcoming = actions.values()
  let next = upcoming.next().value

  return {
    setting,
    action(at, { must }) {
      if (next === undefined) return must || at >= endsAt ? 'end' : undefined
      if (at < next.at && !must) return undefined
      const { action } = next
      next = upcoming.next().value
      return action
    },
    pick: (at, possible) => (picks.get(at) ?? 0) % possible,
    api({ id }) {
      const fault = faults.get(id)
      return isApiFault(fault) ? fault : undefined
    },
    cloud({ id }) {
      const fault = faults.get(id)
      return isCloudFault(fault) ? fault : undefined
    },
    review({ id }) {
      const fault = faults.get(id)
      return isReviewFault(fault) ? fault : undefined
    },
  }
}
