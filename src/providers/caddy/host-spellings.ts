/** What a request may name a host: a name may end with the dot of the root. Caddy ignores case and port by itself. */
export function hostSpellings(host: string): string[] {
  return [host, `${host}.`]
}
