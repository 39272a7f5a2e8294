/** Milliseconds since the epoch of a timestamp that the API server stored; the epoch itself for one that is none. */
export function momentOf(timestamp: string | undefined): number {
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of a given moment; no clock is read
  const moment = Date.parse(timestamp ?? '')
  return Number.isNaN(moment) ? 0 : moment
}
