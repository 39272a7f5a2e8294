import type { Networks } from './networks.ts'

/** Addresses of a proxy, by the pool in which they are. */
export interface Pools {
  /** Of both families. */
  default: string[]
  /** For objects that ask for one of them each. */
  rows: string[]
  /** Published under a name. */
  named: string[]
  /** One address, for those who compete. */
  scarce: string[]
}

export const POOL_HOSTNAME = 'balancer.example.com'

export function poolsFrom(networks: Networks, first: number): Pools {
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => first + from + index)
  return {
    default: [networks.balancer(first), networks.balancer(first, 'IPv6')],
    named: [networks.balancer(first + 1)],
    scarce: [networks.balancer(first + 2)],
    rows: numbers(10, 80).map((number) => networks.balancer(number)),
  }
}

/** `addresses` of a provider's options. */
export function configuredPools({ named, ...others }: Pools): object {
  return { ...others, named: { hostname: POOL_HOSTNAME, addresses: named } }
}
