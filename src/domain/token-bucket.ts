/** How often something may happen: at a steady rate, and `burst` times at once after a quiet while. */
export interface Rate {
  perSecond: number
  burst: number
}

export interface TokenBucket {
  tokens: number
  /** When it held them, in milliseconds. */
  at: number
}

/** Takes one token out. Where there is none the bucket stays as it was, and `waitMs` says when there is one again. */
export function takeToken(
  bucket: TokenBucket | undefined,
  { perSecond, burst }: Rate,
  now: number,
): { bucket: TokenBucket; waitMs: number } {
  const since = bucket === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now - bucket.at)
  const tokens = Math.min(burst, (bucket?.tokens ?? 0) + (since * perSecond) / 1_000)
  if (tokens >= 1) return { bucket: { tokens: tokens - 1, at: now }, waitMs: 0 }
  return { bucket: { tokens, at: now }, waitMs: ((1 - tokens) / perSecond) * 1_000 }
}
