/** Addresses that balancers can be reached at, as configured (`provider.options.addresses`). */
export interface AddressPool {
  /** `default` is used where an object names none. */
  name: string
  /** In the order in which they are given out; ranges are written out, both families mixed. */
  addresses: PoolAddress[]
  /** Published in the place of the addresses. */
  hostname?: string
}

export interface PoolAddress {
  family: 'IPv4' | 'IPv6'
  /** As published, in the one text form of its family. */
  ip: string
  /** What the proxy binds, where a NAT stands before it; equal to `ip` otherwise. `*` and `::` bind everything. */
  listen: string
}

/** What an object wants to be reached at: from its annotations and the ports of its plan. */
export interface AddressWish {
  pool: string
  /** Static addresses; empty: any of the pool. At most one a family. */
  ips: string[]
  /** Published instead; overrides the pool's. */
  hostname?: string
  /** One of each that the pool has when absent. */
  families?: ('IPv4' | 'IPv6')[]
  claims: AddressClaim[]
}

/**
 * What an object takes of an address: a port (layer 4), or a host on a port (layer 7). A claim without host takes the
 * whole port and leaves room for no other. `''` is any host: one object an address. A named host can be claimed by
 * several objects, each with paths of its own (`host-conflicts.ts`).
 */
export interface AddressClaim {
  port: number
  host?: string
}

/** What an object has: kept in the provider's record, so that it stays. */
export interface AssignedAddresses {
  pool: string
  addresses: PoolAddress[]
  hostname?: string
  claims: AddressClaim[]
}
