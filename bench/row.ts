import { relativeSpread, type Summary, summarise } from './statistics.ts'

export type Limit = { atMost: number } | { atLeast: number }

/**
 * - `aim`, `within`: the median keeps to the aim, to the bound.
 * - `beyond`: it does not, and nor does any value that it may truly have.
 * - `undecided`: it does not, but the rounds lie so far apart that this may be the machine's doing.
 * - `told`: nothing is asked of it.
 */
export type Verdict = 'aim' | 'within' | 'beyond' | 'undecided' | 'told'

/** One line of the table. What is judged is the ratio where there is a floor, and the value itself where there is none. */
export interface Row extends Asked {
  name: string
  unit: string
  ours: Summary
  floor?: Summary
  ratio?: Summary
  verdict: Verdict
  /** It was read from a clock on the wall, which tells of the neighbours too. */
  clock: boolean
  /** The rounds lie so far apart that the floor says little. */
  noisyFloor: boolean
  rounds: number
}

export interface Asked {
  bound?: Limit
  aim?: Limit
  /** The bound is the bench's own. */
  guard?: boolean
}

interface Measured {
  name: string
  unit: string
  ours: number[]
  clock?: boolean
}

const NOISY = 0.3
/** So many times its bound is beyond any machine's doing. */
const FAR = 1.5

/** `ours[n]` and `floor[n]` are of one round, one right after the other, so that both met the same machine. */
export function compared(
  { name, unit, ours, floor, clock = false }: Measured & { floor: number[] },
  asked: Asked = {},
): Row {
  const ratio = summarise(ours.map((value, round) => value / (floor[round] ?? Number.NaN)))
  const summary = summarise(floor)
  return {
    name,
    unit,
    ours: summarise(ours),
    floor: summary,
    ratio,
    ...asked,
    verdict: verdictOn(ratio, asked),
    clock,
    noisyFloor: relativeSpread(summary) > NOISY,
    rounds: ours.length,
  }
}

export function counted({ name, unit, ours, clock = false }: Measured, asked: Asked = {}): Row {
  const summary = summarise(ours)
  return {
    name,
    unit,
    ours: summary,
    ...asked,
    verdict: verdictOn(summary, asked),
    clock,
    noisyFloor: false,
    rounds: ours.length,
  }
}

/** Whether not even the value that is kindest to us comes near the bound. */
export function isFarBeyond({ ours, ratio = ours, bound, verdict }: Row): boolean {
  if (verdict !== 'beyond' || bound === undefined) return false
  return 'atMost' in bound ? ratio.low > bound.atMost * FAR : ratio.high < bound.atLeast / FAR
}

function verdictOn({ median, low, high }: Summary, { bound, aim }: Asked): Verdict {
  if (bound === undefined) return 'told'
  if (isWithin(median, bound)) return aim !== undefined && isWithin(median, aim) ? 'aim' : 'within'
  return isWithin(low, bound) || isWithin(high, bound) ? 'undecided' : 'beyond'
}

function isWithin(value: number, limit: Limit): boolean {
  return 'atMost' in limit ? value <= limit.atMost : value >= limit.atLeast
}
