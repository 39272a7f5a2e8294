/** RFC 3339 in seconds and UTC, as the API stores `metav1.Time`. */
export function rfc3339(epochMs: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: a conversion of a given moment; no clock is read
  return new Date(epochMs).toISOString().replace(/\.\d+Z$/, 'Z')
}
