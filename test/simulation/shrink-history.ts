import type { Decisions } from './decisions.ts'
import type { Action, Entry, History, Setting } from './history.ts'
import type { Played } from './play.ts'
import { type PlayOptions, playHistory } from './play-history.ts'
import { recordedDecisions } from './recorded-decisions.ts'

/** A history that fails in the same way, and from which nothing can be left out. */
export interface Shrunk<S = Setting, A = Action> {
  history: History<S, A>
  violation: string
  /** How many shorter ones were tried. */
  tried: number
}

const MOST_TRIES = 2_000

/** How histories of one kind are played again, and what makes their world a simpler one. */
export interface Shrinkable<S, A> {
  play(decisions: Decisions<S, A>): Promise<Played>
  simpler(setting: S): ((setting: S) => S)[]
}

/** A history of balancers over clusters. */
export function shrinkHistory(history: History, violation: string, options: PlayOptions = {}): Promise<Shrunk> {
  return shrink(history, violation, { play: (decisions) => playHistory(decisions, options), simpler })
}

/** Leaves out actions, faults and reorderings, alone and in groups, as long as the same invariant still breaks. */
export async function shrink<S, A extends { do: string }>(
  history: History<S, A>,
  violation: string,
  { play, simpler }: Shrinkable<S, A>,
): Promise<Shrunk<S, A>> {
  const invariant = invariantOf(violation)
  let best = { history, violation }
  let tried = 0

  async function tryWith(candidate: History<S, A>): Promise<boolean> {
    if (tried >= MOST_TRIES) return false
    tried += 1
    const played = await play(recordedDecisions(candidate))
    if (played.violation === undefined || invariantOf(played.violation) !== invariant) return false
    best = { history: candidate, violation: played.violation }
    return true
  }

  async function leaveOutEntries(): Promise<boolean> {
    let isShorter = false
    for (let size = Math.max(1, best.history.entries.length >> 1); size >= 1; size >>= 1) {
      for (let start = 0; start < best.history.entries.length; ) {
        const { entries } = best.history
        const rest = [...entries.slice(0, start), ...entries.slice(start + size)]
        if (await tryWith({ ...best.history, entries: rest })) isShorter = true
        else start += size
      }
    }
    return isShorter
  }

  async function simplifyEntries(): Promise<boolean> {
    let isSimpler = false
    for (const index of best.history.entries.keys()) {
      for (const entry of simplerEntries(best.history.entries, index)) {
        if (await tryWith({ ...best.history, entries: best.history.entries.with(index, entry) })) isSimpler = true
      }
    }
    return isSimpler
  }

  await tryWith({ ...best.history, entries: best.history.entries.filter((entry) => !('pick' in entry)) })
  for (const setting of simpler(best.history.setting))
    await tryWith({ ...best.history, setting: setting(best.history.setting) })
  do {
    while (await leaveOutEntries()) {
      for (const setting of simpler(best.history.setting))
        await tryWith({ ...best.history, setting: setting(best.history.setting) })
    }
    // What is earlier may do without what filled the time before it.
  } while (await simplifyEntries())
  return { ...best, tried }
}

function invariantOf(violation: string): string {
  return violation.split(': ')[0] ?? ''
}

export function simpler({ instances, lock }: Setting): ((setting: Setting) => Setting)[] {
  return [
    (setting) => ({ ...setting, skewsMs: setting.skewsMs.map(() => 0) }),
    (setting) => ({ ...setting, cloud: { ...setting.cloud, flapMs: 0 } }),
    (setting) => ({ ...setting, cloud: { ...setting.cloud, latencyMs: 0 } }),
    (setting) => ({ ...setting, cloud: { ...setting.cloud, delayMs: 0 } }),
    (setting) => ({ ...setting, propagation: false }),
    (setting) => ({ ...setting, takeOver: false }),
    ...(lock === 'lease' && instances > 1
      ? [(setting: Setting) => ({ ...setting, instances: setting.instances - 1 })]
      : []),
  ]
}

/** The same thing earlier, and without delay. */
function simplerEntries<A extends { do: string }>(entries: readonly Entry<A>[], index: number): Entry<A>[] {
  const entry = entries[index]
  if (entry === undefined || 'call' in entry) return []
  if ('pick' in entry) return entry.pick > 1 ? [{ ...entry, pick: 1 }] : []
  const earliest = entries.slice(0, index).findLast((before) => 'action' in before)?.at ?? 0
  const middle = (earliest + entry.at) >> 1
  return [
    ...[...new Set([middle, earliest])].filter((at) => at < entry.at).map((at) => ({ ...entry, at })),
    ...(isSlowKill(entry.action) ? [{ ...entry, action: { ...entry.action, restartMs: 0 } }] : []),
  ]
}

function isSlowKill(action: { do: string }): boolean {
  return action.do === 'kill' && 'restartMs' in action && action.restartMs !== 0
}
