/** Whole seconds, at least one: the API server's client and brokers read integers only. */
export function retryAfterSeconds(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1_000)))
}
