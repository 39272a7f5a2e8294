import type { Setting } from './history.ts'
import type { SimBalancer } from './sim-cloud.ts'

/** Without a Lease what a process notes dies with it; then nobody can know that the cloud may still bring a balancer. */
export function isForgotten(
  { isOfTheDead }: Pick<SimBalancer, 'isOfTheDead'>,
  { lock }: Pick<Setting, 'lock'>,
): boolean {
  return isOfTheDead && lock === 'process'
}
