/** Doubles with each failure up to `longestMs`; up to half of it is left to chance, so that many do not come at once. */
export function jitteredBackoff(
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
  random: () => number,
): (failures: number) => number {
  return (failures) => Math.round(Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (1 - random() / 2))
}
