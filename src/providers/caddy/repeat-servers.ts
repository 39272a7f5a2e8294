/** A server and its part of new requests, 1 or more. */
export interface WeightedServer {
  dial: string
  weight: number
}

/** More entries make rounding finer, and health checks more: Caddy checks each entry by itself. */
const MOST_ENTRIES = 100
/** How far the part of any server may be off: half a point. */
const TOLERANCE = 0.005

/**
 * Servers as often as their weights ask for: Caddy 2.6 knows no weights. The shortest list in which every part is right
 * within half a point; where none of 100 entries is, the one of 100 (or two for each server, if that is more).
 */
export function repeatServers(servers: readonly WeightedServer[]): string[] {
  const most = Math.max(MOST_ENTRIES, servers.length * 2)
  for (let total = servers.length; total < most; total += 1) {
    const counts = apportion(servers, total)
    if (largestError(servers, counts) <= TOLERANCE) return written(servers, counts)
  }
  return written(servers, apportion(servers, most))
}

/** By largest remainders, and at least one each. */
function apportion(servers: readonly WeightedServer[], total: number): number[] {
  const sum = sumOf(servers.map(({ weight }) => weight))
  const quotas = servers.map(({ weight }) => (weight * total) / sum)
  const counts = quotas.map((quota) => Math.max(1, Math.floor(quota)))
  const byRemainder = quotas
    .map((quota, index) => ({ index, remainder: quota - (counts[index] ?? 0) }))
    .sort((a, b) => b.remainder - a.remainder || a.index - b.index)
  const left = Math.max(0, total - sumOf(counts))
  for (const { index } of byRemainder.slice(0, left)) counts[index] = (counts[index] ?? 0) + 1
  return counts
}

function largestError(servers: readonly WeightedServer[], counts: readonly number[]): number {
  const [weights, entries] = [sumOf(servers.map(({ weight }) => weight)), sumOf(counts)]
  return Math.max(...servers.map(({ weight }, index) => Math.abs((counts[index] ?? 0) / entries - weight / weights)))
}

function written(servers: readonly WeightedServer[], counts: readonly number[]): string[] {
  return servers.flatMap(({ dial }, index) => Array.from({ length: counts[index] ?? 0 }, () => dial))
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0)
}
