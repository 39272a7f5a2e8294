import type { Clock } from '../ports/clock.ts'

/** What many ask for and what may be a moment old: loaded once for all who ask within `forMs`. */
export function recently<T>(
  load: (signal: AbortSignal) => Promise<T>,
  { clock, forMs }: { clock: Clock; forMs: number },
): (signal: AbortSignal) => Promise<T> {
  let known: { loaded: Promise<T>; until: number } | undefined
  return (signal) => {
    if (known !== undefined && known.until > clock.now()) return known.loaded
    const loaded = load(signal)
    const mine = { loaded, until: clock.now() + forMs }
    known = mine
    // A failure, or a caller that gave up, is nobody else's answer.
    loaded.catch(() => {
      if (known === mine) known = undefined
    })
    return loaded
  }
}
