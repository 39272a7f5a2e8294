import type { ObjectOfKind } from '../../domain/kinds.ts'
import { sameLoadBalancerStatus } from '../../domain/load-balancer-status.ts'
import type { BalancedKind } from './balanced-resource.ts'
import type { BalancerPass } from './balancer-pass.ts'
import type { BalancerLook, BalancerSnapshot } from './balancer-snapshot.ts'

/**
 * Whether a pass would find nothing to do: the same was read when one did, and the provider says that its balancer is
 * made from that. Always true or false whatever happened in between: it is said of versions, not of a moment. What the
 * provider says of its address is compared anew.
 */
export function isSettledStill<K extends BalancedKind>(
  { object, record, verify }: BalancerLook<ObjectOfKind[K]>,
  versions: string,
  { settled, key }: BalancerPass<K>,
): boolean {
  if (verify || record?.fingerprint === undefined) return false
  const known = settled.recall(key, object.metadata.uid ?? '')
  return (
    known?.versions === versions &&
    known.fingerprint === record.fingerprint &&
    (record.status === undefined || sameLoadBalancerStatus(object.status?.loadBalancer, record.status))
  )
}

/** Faults are a matter of the object alone, and one with faults is never settled. */
export function isKnownFaultless<K extends BalancedKind>(
  { metadata }: ObjectOfKind[K],
  { settled, key }: BalancerPass<K>,
): boolean {
  const { uid = '', resourceVersion } = metadata
  return resourceVersion !== undefined && settled.recall(key, uid)?.resourceVersion === resourceVersion
}

/** A pool that is held makes an object settled for a while only, and the outcome another. */
export function rememberSettled<K extends BalancedKind>(
  { object, record, inputs: { fingerprint } }: BalancerSnapshot<ObjectOfKind[K]>,
  versions: string,
  { settled, key }: BalancerPass<K>,
): void {
  const { uid = '', resourceVersion } = object.metadata
  if (resourceVersion === undefined || record?.fingerprint !== fingerprint) return
  settled.remember(key, uid, { resourceVersion, versions, fingerprint })
}
