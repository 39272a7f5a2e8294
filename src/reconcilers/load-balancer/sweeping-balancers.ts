import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { answeredStill } from '../answered-still.ts'
import type { AnswersKnown } from '../question.ts'
import type { OrphanReport, OrphanSweep, ReconcilePass, SweepCall, SweepingReconciler } from '../reconciler.ts'
import type { BalancedKind, BalancedResource } from './balanced-resource.ts'
import type { Assumed, BalancerDependencies } from './balancer-pass.ts'
import { conflictsText } from './conflicts-text.ts'
import { listRecords } from './list-records.ts'
import { isServedStill } from './settled-still.ts'

interface Balancers<K extends BalancedKind> {
  reconcile(key: ObjectKey, pass: ReconcilePass, assumed: Assumed<ObjectOfKind[K]>): Promise<Outcome>
  sweepOrphans(pass: OrphanSweep): Promise<OrphanReport>
}

/**
 * Asks the provider for all balancers at once. An object whose balancer is as it was, and for which everything would be
 * answered as it was when it was settled, is settled without a pass.
 */
export function createSweepingBalancers<K extends BalancedKind>(
  call: SweepCall,
  resource: BalancedResource<K>,
  dependencies: BalancerDependencies,
  balancers: Balancers<K>,
): SweepingReconciler {
  const { isFromTheStart, signal, isVerificationDue } = call
  const { settled } = dependencies
  const listing = isFromTheStart ? listRecords(resource, dependencies, signal) : undefined
  const conflicts = resource.conflictsInSweep?.(call)
  const assumed: Assumed<ObjectOfKind[K]> = {
    recordOf: (object) => listing?.recordOf(object),
    conflictsOf: (object) => (conflicts === undefined ? [] : conflicts.conflictsOf(object)),
  }

  function isSettled(key: ObjectKey, stored: KubernetesObject | undefined, known: AnswersKnown): boolean {
    if (stored === undefined) return false
    const object = stored as ObjectOfKind[K]
    const { uid = '', resourceVersion } = object.metadata
    const memory = settled.recall(key, uid)
    if (memory === undefined || memory.resourceVersion !== resourceVersion || isVerificationDue(uid)) return false
    const record = assumed.recordOf(object)
    if (record === undefined || !isServedStill(memory, object, record)) return false
    return answeredStill(memory.answers, known) && memory.conflicts === conflictsNow(object)
  }

  function conflictsNow(object: ObjectOfKind[K]): string | undefined {
    const found = assumed.conflictsOf(object)
    return found && conflictsText(found)
  }

  return {
    ready: async () => listing?.ready,
    see: (objects) => conflicts?.see(objects as readonly ObjectOfKind[K][]),
    isSettled,
    overlooked: async () => conflicts?.overlooked() ?? [],
    reconcile: (key, pass) => balancers.reconcile(key, pass, assumed),
    /** A list a while old tells that there are none; which there are, a fresh one. */
    async sweepOrphans(pass) {
      if (listing?.names(pass.isHeld) === true) return { found: 0, removed: 0 }
      return balancers.sweepOrphans(pass)
    },
  }
}
