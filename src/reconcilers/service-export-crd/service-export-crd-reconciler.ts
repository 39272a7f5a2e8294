import { CRD_POLICY_KEY, crdPropagationDesired } from '../../domain/propagation/crd-propagation-desired.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Lock } from '../../ports/lock.ts'
import { applyChange } from '../apply-change.ts'
import type { Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'

/** Keeps the policy that takes the ServiceExport CRD to every cluster. Any other policy is not ours to look at. Disowned, it is for no cluster. */
export function createServiceExportCrdReconciler(
  { takeOver, disowned }: { takeOver: boolean; disowned: boolean },
  { store, lock }: { store: ClusterStore; lock: Lock },
): Reconciler {
  return {
    async reconcile(key, { reader, signal }) {
      if (key.name !== CRD_POLICY_KEY.name) return { kind: 'ignored', reason: 'not the policy that we keep' }
      const [clusters, existing] = await Promise.all([
        reader.list('Cluster', { signal }),
        reader.get(CRD_POLICY_KEY, { signal }),
      ])
      const change = crdPropagationDesired(disowned ? [] : clusters.items, existing, { takeOver })
      if (change.do === 'leave') return { kind: 'settled' }
      return withLock(lock, key, signal, async ({ lost }) => {
        await applyChange('ClusterPropagationPolicy', change, store, AbortSignal.any([signal, lost]))
        return { kind: 'settled' }
      })
    },
  }
}
