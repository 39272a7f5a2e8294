/** Numbers that look random and are the same for the same seed. */
export interface Prng {
  /** In [0, 1). */
  next(): number
  /** In [0, below). */
  integer(below: number): number
  chance(probability: number): boolean
  /** Each as often as its weight says. */
  choose<T>(weighted: readonly (readonly [weight: number, value: T])[]): T
  pick<T>(values: readonly [T, ...T[]]): T
}

/** mulberry32, after a scramble, so that neighbouring seeds have nothing in common. */
export function createPrng(seed: number): Prng {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed >>> 13)

  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  const integer = (below: number) => Math.floor(next() * below)
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    choose(weighted) {
      let rest = next() * weighted.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, value] of weighted) {
        rest -= weight
        if (rest < 0) return value
      }
      throw new RangeError('nothing to choose from')
    },
    pick: (values) => values[integer(values.length)] ?? values[0],
  }
}
