import type { ObjectOfKind } from '../../domain/kinds.ts'
import { sameLoadBalancerStatus } from '../../domain/load-balancer-status.ts'
import { formatKey } from '../../domain/object-key.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'
import { sameAnswers } from '../same-answers.ts'
import type { VersionsRead } from '../versions-read.ts'
import type { BalancedKind, Surroundings } from './balanced-resource.ts'
import type { BalancerPass } from './balancer-pass.ts'
import type { BalancedObject, BalancerLook, BalancerSnapshot } from './balancer-snapshot.ts'
import { conflictsText } from './conflicts-text.ts'
import type { SettledPass } from './settled-pass.ts'

/** What was read for an object, beside the object itself. */
export interface WorldRead {
  answers: SettledPass['answers']
  conflicts: string
}

export function worldRead<K extends BalancedKind>(
  read: VersionsRead,
  surroundings: Surroundings | undefined,
  { key }: BalancerPass<K>,
): WorldRead {
  const own = formatKey(key)
  return {
    answers: read.answers().filter(({ question }) => question.text !== own),
    conflicts: conflictsText(surroundings?.conflicts ?? []),
  }
}

/**
 * Whether a pass would find nothing to do: the same was read when one did, and the provider says that its balancer is
 * made from that. Always true or false whatever happened in between: it is said of versions, not of a moment. What the
 * provider says of its address is compared anew.
 */
export function isSettledStill<K extends BalancedKind>(
  { object, record, verify }: BalancerLook<ObjectOfKind[K]>,
  world: WorldRead,
  { settled, key }: BalancerPass<K>,
): boolean {
  if (verify) return false
  const known = settled.recall(key, object.metadata.uid ?? '')
  return (
    known !== undefined &&
    known.resourceVersion === object.metadata.resourceVersion &&
    isServedStill(known, object, record) &&
    known.conflicts === world.conflicts &&
    sameAnswers(known.answers, world.answers)
  )
}

/** By what the provider says of its balancer. */
export function isServedStill(
  { fingerprint }: SettledPass,
  { status }: BalancedObject,
  record: BalancerRecord | undefined,
): boolean {
  return (
    record?.fingerprint === fingerprint &&
    (record.status === undefined || sameLoadBalancerStatus(status?.loadBalancer, record.status))
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
  world: WorldRead,
  { settled, key }: BalancerPass<K>,
): void {
  const { uid = '', resourceVersion } = object.metadata
  if (resourceVersion === undefined || record?.fingerprint !== fingerprint) return
  settled.remember(key, uid, { resourceVersion, ...world, fingerprint })
}
