import type { MultiClusterOptions } from '../balancer-annotations/multi-cluster-options.ts'
import type { AddressClaim, AddressWish } from './address-pool.ts'

/** Where an object asks to be reached, by its annotations, for what it claims there. */
export function addressWish(asked: MultiClusterOptions, claims: readonly AddressClaim[]): AddressWish {
  const { addressPool = 'default', staticIps = [], hostname, ipFamilies } = asked
  return {
    pool: addressPool,
    ips: staticIps,
    ...(hostname === undefined ? {} : { hostname }),
    ...(ipFamilies === undefined ? {} : { families: ipFamilies }),
    claims: [...claims],
  }
}
