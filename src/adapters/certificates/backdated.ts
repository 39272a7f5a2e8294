/** Clocks differ: what is issued is valid from this long before. */
export const BACKDATED_MS = 3_600_000
