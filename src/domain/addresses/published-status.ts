import type { LoadBalancerStatus } from '../load-balancer-status.ts'
import type { AssignedAddresses } from './address-pool.ts'

/** What an object is reached at, for its status: the hostname where there is one, else every address. */
export function publishedStatus({ addresses, hostname }: AssignedAddresses): LoadBalancerStatus {
  return { ingress: hostname === undefined ? addresses.map(({ ip }) => ({ ip })) : [{ hostname }] }
}
