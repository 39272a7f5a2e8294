export interface VerificationSettings {
  /** Every balancer is verified once in this time. */
  periodMs: number
  /** How often the sweep comes. */
  intervalMs: number
}

/**
 * Whether the balancer of this object is to be verified by a sweep now, although nothing that we know has changed: the
 * cloud may have drifted. Each sweep of a period takes another share, by the object's uid; no state is kept. A sweep that
 * does not come leaves its share to the next period.
 */
export function isVerificationDue(uid: string, now: number, { periodMs, intervalMs }: VerificationSettings): boolean {
  const shares = Math.max(1, Math.floor(periodMs / intervalMs))
  // Rounded: a cron comes at multiples of its interval, a little sooner or later.
  return Math.round(now / intervalMs) % shares === hash(uid) % shares
}

/** FNV-1a: spreads uids evenly, and is the same everywhere. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  }
  return value >>> 0
}
