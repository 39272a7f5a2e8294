import { sameJson } from '../canonical-json.ts'
import type { LoadBalancerIngress, LoadBalancerStatus } from '../load-balancer-status.ts'
import type { BalancerOptions } from './balancer-options.ts'

/**
 * What is published of the addresses that a provider reports (R-SVC-13, R-SVC-14). A hostname that was asked for takes
 * their place; an address says how nodes treat it, VIP unless the client address is in the proxy protocol, and a
 * hostname never does: the API server refuses that.
 */
export function publishedIngress(status: LoadBalancerStatus, options: BalancerOptions): LoadBalancerIngress[] {
  const reported = status.ingress ?? []
  if (options.hostname !== undefined && reported.length > 0) return [{ hostname: options.hostname }]
  return reported.map((entry) => withMode(entry, options))
}

function withMode({ ip, ipMode, ...rest }: LoadBalancerIngress, options: BalancerOptions): LoadBalancerIngress {
  if (!ip) return rest
  return { ip, ipMode: askedMode(options) ?? ipMode ?? 'VIP', ...rest }
}

function askedMode({ ipMode, proxyProtocol }: BalancerOptions): string | undefined {
  if (ipMode === 'VIP' || ipMode === 'Proxy') return ipMode
  return proxyProtocol === 'v1' || proxyProtocol === 'v2' ? 'Proxy' : undefined
}

/** Equal for every reader: absent and empty are one, and an address without a mode is a VIP, as the API server stores it. */
export function sameIngress(
  a: readonly LoadBalancerIngress[] | undefined,
  b: readonly LoadBalancerIngress[] | undefined,
): boolean {
  return sameJson(normalised(a), normalised(b))
}

function normalised(entries: readonly LoadBalancerIngress[] = []): LoadBalancerIngress[] {
  return entries.map(({ ip, hostname, ipMode, ports }) => ({
    ...(ip ? { ip, ipMode: ipMode ?? 'VIP' } : {}),
    ...(hostname ? { hostname } : {}),
    ...(ports === undefined || ports.length === 0 ? {} : { ports }),
  }))
}
