import type { NodeAddress } from '../node.ts'

/** A route of the cloud: packets for `destinationCIDR` go to the machine of `targetNode`. */
export interface Route {
  /** The cloud's; absent in a route that is to be made. */
  name?: string
  /** Name of the node; of a blackhole the raw next hop, or empty. */
  targetNode: string
  /** Whether addresses of the node are part of the route: when they change it is another route. */
  enableNodeAddresses?: boolean
  targetNodeAddresses?: NodeAddress[]
  destinationCIDR: string
  /** Leads to a machine that does not exist. */
  blackhole?: boolean
}
