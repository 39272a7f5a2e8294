import type { ListenerPlan } from '../listening/listener-plan.ts'
import type { AddressClaim } from './address-pool.ts'

/** What layer 4 needs of an address: its ports, whole. */
export function listenerClaims({ listeners }: ListenerPlan): AddressClaim[] {
  return listeners.map(({ port }) => ({ port }))
}
