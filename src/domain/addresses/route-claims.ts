import { compareTexts } from '../compare-texts.ts'
import type { RoutePlan } from '../routing/route-plan.ts'
import type { AddressClaim } from './address-pool.ts'

/** What layer 7 needs of an address: its hosts on 80, and on 443 too where a certificate covers them. */
export function routeClaims({ routes, defaultUpstream, certificates }: RoutePlan): AddressClaim[] {
  const plain = new Set(routes.map(({ host }) => host))
  const secure = new Set(routes.filter(({ tls }) => tls).map(({ host }) => host))
  if (defaultUpstream !== undefined) plain.add('')
  if (defaultUpstream !== undefined && certificates.length > 0) secure.add('')
  return [...claimsOn(80, plain), ...claimsOn(443, secure)]
}

function claimsOn(port: number, hosts: ReadonlySet<string>): AddressClaim[] {
  return [...hosts].sort(compareTexts).map((host) => ({ port, host }))
}
