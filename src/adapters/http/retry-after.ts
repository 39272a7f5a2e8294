/** Whole seconds, at least one: the API server's client and brokers read integers only. What is no number is a long time. */
export function retryAfterSeconds(ms: number): string {
  return String(Number.isFinite(ms) ? Math.max(1, Math.ceil(ms / 1_000)) : 300)
}
