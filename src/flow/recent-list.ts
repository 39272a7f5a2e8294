import type { Clock } from '../ports/clock.ts'

/** A list that many ask for and that may be a moment old: loaded once for all who ask within `forMs`. */
export function recentList<T>(
  load: (signal: AbortSignal) => Promise<readonly T[]>,
  { clock, forMs }: { clock: Clock; forMs: number },
): (signal: AbortSignal) => Promise<readonly T[]> {
  let known: { items: Promise<readonly T[]>; until: number } | undefined
  return (signal) => {
    if (known !== undefined && known.until > clock.now()) return known.items
    const items = load(signal)
    const mine = { items, until: clock.now() + forMs }
    known = mine
    // A failure, or a caller that gave up, is nobody else's answer.
    items.catch(() => {
      if (known === mine) known = undefined
    })
    return items
  }
}
