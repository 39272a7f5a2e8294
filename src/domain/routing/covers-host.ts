/**
 * Whether a certificate for these hosts is for the host of a rule too. None means every host; `*.example.com` covers
 * exactly one label, and the wildcard itself.
 */
export function coversHost(hosts: readonly string[], host: string): boolean {
  return hosts.length === 0 || hosts.some((name) => name === host || name === wildcardOf(host))
}

function wildcardOf(host: string): string | undefined {
  const dot = host.indexOf('.')
  return dot > 0 ? `*${host.slice(dot)}` : undefined
}
