import type { BalancerAbilities } from '../domain/service-balancer/balancer-request.ts'
import type { CloudLoadBalancer } from '../provider/cloud.ts'

/** What a provider says that it can do; what it does not say it cannot. */
export function balancerAbilities({ supports = {} }: CloudLoadBalancer): BalancerAbilities {
  const { protocols = ['TCP'], sourceRanges = false, target = 'instance' } = supports
  return { protocols, sourceRanges, target }
}
