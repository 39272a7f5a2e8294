import type { Finding } from '../../domain/finding.ts'
import type { Service } from '../../domain/service.ts'
import type { BalancerRequest } from '../../domain/service-balancer/balancer-request.ts'
import type { ServiceStanding } from '../../domain/service-balancer/service-standing.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'

/** Everything a decision is made from, read before it is made. */
export interface ServiceSnapshot {
  service: Service
  standing: ServiceStanding
  /** What it asks for, and what the provider has; undefined where the standing needs neither. */
  wanted: WantedBalancer | undefined
}

export interface WantedBalancer {
  /** Why nothing can be asked of the provider. */
  faults: Finding[]
  request: BalancerRequest
  /** The provider's answer; undefined also where faults spared the question. */
  record: BalancerRecord | undefined
  /** Ensured even if nothing is known to have changed: not every difference can be seen by a look. */
  verify: boolean
}
