import type { AssignedAddresses } from '../../domain/addresses/address-pool.ts'
import type { ListenerPlan } from '../../domain/listening/listener-plan.ts'
import type { PlannedCertificate, RoutePlan } from '../../domain/routing/route-plan.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'

/** What is served for one object: all that the configuration is rendered from. One file an object. */
export type ServedRecord = ServedService | ServedIngress

interface Served {
  identity: BalancerIdentity
  /** Of the last call that was finished. */
  fence: string
  fingerprint: string
  addresses: AssignedAddresses
}

export interface ServedService extends Served {
  layer: 4
  /** What `held` stands for is filled in. */
  plan: ListenerPlan
}

export interface ServedIngress extends Served {
  layer: 7
  plan: Omit<RoutePlan, 'certificates'>
  /** With their keys, so they are stored apart from the rest. */
  certificates: PlannedCertificate[]
}
