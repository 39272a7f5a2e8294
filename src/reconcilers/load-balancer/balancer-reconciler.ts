import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { ReconcilePass, Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { applyBalancer, reportHold } from './apply-balancer.ts'
import type { BalancedKind, BalancedResource } from './balanced-resource.ts'
import type { BalancerDependencies, BalancerPass } from './balancer-pass.ts'
import { decideBalancer } from './decide-balancer.ts'
import { gatherBalancer } from './gather-balancer.ts'

/** gather → decide → apply for one kind. Only a decision that writes takes the lock. */
export function createBalancerReconciler<K extends BalancedKind>(
  resource: BalancedResource<K>,
  dependencies: BalancerDependencies,
): Reconciler {
  return {
    async reconcile(key: ObjectKey, { reader, signal }: ReconcilePass): Promise<Outcome> {
      const pass: BalancerPass<K> = {
        ...dependencies,
        resource,
        key: { ...key, kind: resource.kind },
        signal,
        fence: '',
      }
      const snapshot = await gatherBalancer(pass, reader)
      if (snapshot === undefined) return { kind: 'gone' }
      const decision = decideBalancer(snapshot)
      switch (decision.do) {
        case 'nothing':
          return { kind: 'ignored', reason: decision.reason }
        case 'settled':
          return { kind: 'settled' }
        case 'hold':
          return reportHold(pass, snapshot.object, decision.reason)
        default:
          return withLock(pass.lock, key, signal, (held) =>
            applyBalancer(decision, snapshot, {
              ...pass,
              signal: AbortSignal.any([signal, held.lost]),
              fence: held.fence,
            }),
          )
      }
    },
  }
}
