import type { CallToDecide, Decisions, Moment } from './decisions.ts'
import type { Action, ApiFault, CloudFault, Entry, History, ReviewFault, Setting } from './history.ts'
import type { Prng } from './prng.ts'
import { PROVIDER_DEADLINE_MS } from './sim-config.ts'

export interface RandomDecisions<S = Setting, A = Action> extends Decisions<S, A> {
  /** What was decided so far, as a history that can be played again. */
  history(): History<S, A>
}

/** How wild a history is; what is left out of one makes room for the rest. */
export interface HistoryTemper {
  actions: number
  actionChance: number
  /** How often somebody gets in the way of one who works. */
  interference: number
  /** How often not the first step is taken. */
  disorder: number
  apiFaults: number
  cloudFaults: number
  reviewFaults: number
}

export interface RandomParts<S, A> {
  seed: number
  prng: Prng
  setting: S
  temper: HistoryTemper
  /** The consistency window of the cloud: it is late within it. */
  windowMs: number
  nextAction(why: { isFirst: boolean; interferes: boolean }, moment: Moment): A
}

/** What happens when, and what goes wrong; which actions there are the world knows. */
export function decideRandomly<S, A>(parts: RandomParts<S, A>): RandomDecisions<S, A> {
  const { seed, prng, setting, temper, windowMs, nextAction } = parts
  const entries: Entry<A>[] = []
  let left = temper.actions
  let endsAt = 0

  function fault<F extends ApiFault | CloudFault | ReviewFault>(
    { id, what }: CallToDecide,
    chance: number,
    choices: readonly (readonly [number, F])[],
  ): F | undefined {
    if (!prng.chance(chance * (WEIGHTS[what] ?? 1))) return undefined
    const chosen = prng.choose(choices)
    entries.push({ call: id, fault: chosen })
    return chosen
  }

  return {
    setting,
    history: () => ({ seed, setting, entries, endsAt }),
    action(at, moment) {
      endsAt = left === 0 ? at : at + 1
      const { must, isIdle, busy } = moment
      if (left === 0) return 'end'
      const chance = isIdle ? Math.max(temper.actionChance, WHEN_IDLE) : temper.actionChance
      const interferes = busy.length > 0 && prng.chance(temper.interference)
      if (!must && !interferes && !prng.chance(chance)) return undefined
      const isFirst = left === temper.actions
      left -= 1
      const action = nextAction({ isFirst, interferes }, moment)
      entries.push({ at, action })
      return action
    },
    pick(at, possible) {
      if (possible === 1 || !prng.chance(temper.disorder)) return 0
      const pick = prng.integer(possible)
      if (pick > 0) entries.push({ at, pick })
      return pick
    },
    api: (call) => fault(call, temper.apiFaults, apiFaults(call, prng)),
    cloud: (call) => fault(call, temper.cloudFaults, cloudFaults(call, prng, windowMs)),
    review: (call) => fault(call, temper.reviewFaults, REVIEW_FAULTS),
  }
}

const WHEN_IDLE = 0.4

/** Writes are fewer than reads, and more can go wrong with them. */
const WEIGHTS: Partial<Record<CallToDecide['what'], number>> = {
  write: 3,
  claim: 6,
  lease: 2,
  page: 4,
  create: 2,
  delete: 2,
}

function apiFaults({ what }: CallToDecide, prng: Prng): (readonly [number, ApiFault])[] {
  const common: (readonly [number, ApiFault])[] = [
    [2, { api: 'throttled' }],
    [3, { api: 'failed' }],
    [2, { api: 'lostBefore' }],
    [3, { api: 'slow', ms: prng.pick([20, 400, 4_000, 9_000]) }],
  ]
  const writing: (readonly [number, ApiFault])[] = [
    [2, { api: 'conflict' }],
    [2, { api: 'failedAfter' }],
    [2, { api: 'lostAfter', ms: prng.pick([0, 400, 4_000]) }],
  ]
  switch (what) {
    case 'page':
      return [...common, [8, { api: 'expired' }]]
    case 'claim':
      return [...common, ...writing, [4, { api: 'finalizerDropped' }]]
    case 'write':
    case 'lease':
      return [...common, ...writing]
    default:
      return common
  }
}

function cloudFaults({ what }: CallToDecide, prng: Prng, windowMs: number): (readonly [number, CloudFault])[] {
  const common: (readonly [number, CloudFault])[] = [
    [3, { cloud: 'failed' }],
    [1, { cloud: 'lostBefore' }],
    [2, { cloud: 'slow', ms: prng.pick([20, 1_000, 4_000]) }],
  ]
  if (what === 'look') return common
  const changing: (readonly [number, CloudFault])[] = [
    ...common,
    [2, { cloud: 'retryAfter', ms: prng.pick([10, 1_000, 7_000]) }],
    [3, { cloud: 'failedAfter' }],
    [3, { cloud: 'lostAfter' }],
  ]
  const own = what === 'delete' ? [...changing, [3, { cloud: 'partial' }] as const] : changing
  // Only a cloud that states a window is late: by no more than that after its caller has given up.
  if (windowMs === 0) return own
  return [...own, [5, { cloud: 'late', ms: 1 + prng.integer(PROVIDER_DEADLINE_MS + windowMs - 1) }]]
}

const REVIEW_FAULTS: readonly (readonly [number, ReviewFault])[] = [
  [6, { review: 'lost' }],
  [3, { review: 'twice' }],
  [3, { review: 'another' }],
  [1, { review: 'refused' }],
]
