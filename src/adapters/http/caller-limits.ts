import { isIPv6 } from 'node:net'
import { type Rate, type TokenBucket, takeToken } from '../../domain/token-bucket.ts'

/** Counts what each caller does. */
export interface CallerLimits {
  /** Takes note of one more; answers how long the caller has to wait, 0 when it need not. */
  take(caller: string, rate: Rate, now: number): number
}

/** Whoever was not heard of for longest is forgotten first: what strangers do never costs more memory than this. */
const MOST_CALLERS = 10_000

export function createCallerLimits(mostCallers = MOST_CALLERS): CallerLimits {
  const buckets = new Map<string, TokenBucket>()
  return {
    take(caller, rate, now) {
      const { bucket, waitMs } = takeToken(buckets.get(caller), rate, now)
      buckets.delete(caller)
      buckets.set(caller, bucket)
      const [oldest] = buckets.size > mostCallers ? buckets.keys() : []
      if (oldest !== undefined) buckets.delete(oldest)
      return waitMs
    },
  }
}

/** Where a request comes from. One subscriber has a whole /64 of IPv6: it counts as one. */
export function callerAddress(remoteAddress: string | undefined): string {
  if (remoteAddress === undefined) return 'unknown'
  if (!isIPv6(remoteAddress) || remoteAddress.startsWith('::ffff:')) return remoteAddress
  const [head = '', tail] = remoteAddress.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) while (groups.length < 8 - (tail === '' ? 0 : tail.split(':').length)) groups.push('0')
  return `${groups.slice(0, 4).join(':')}::/64`
}
