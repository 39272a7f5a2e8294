import type { Clock } from '../../ports/clock.ts'

/** Keeps the distance between our clock and the API server's. */
export interface ServerTime {
  /** Of an answer that has just come: its `Date`, and when the request was sent. */
  observe(date: string | string[] | undefined, sentAt: number): void
  /** Our own clock until the first answer. */
  now(): number
}

/**
 * A `Date` names the second in which the answer was written, between the sending and now: each answer gives the distance
 * a lowest and a highest value. The greatest lowest one is kept, until an answer contradicts it: then one of the clocks
 * was set.
 */
export function createServerTime(clock: Clock): ServerTime {
  let distance: number | undefined
  return {
    observe(date, sentAt) {
      const second = typeof date === 'string' ? Date.parse(date) : Number.NaN
      if (Number.isNaN(second)) return
      const lowest = second - clock.now()
      const highest = second + 1_000 - sentAt
      if (distance === undefined || lowest > distance || distance > highest) distance = lowest
    },
    now: () => clock.now() + (distance ?? 0),
  }
}
