import { type ServiceExportDesired, serviceExportDesired } from '../../domain/propagation/service-export-desired.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Lock } from '../../ports/lock.ts'
import { applyChange } from '../apply-change.ts'
import type { EventRecorder } from '../event-recorder.ts'
import type { Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { createReferringIngresses, type ExportSettings, gatherServiceExport } from './gather-service-export.ts'

export interface ExportDependencies {
  store: ClusterStore
  lock: Lock
  recorder: EventRecorder
}

/**
 * Keeps, for a Service that an object of ours sends traffic to, the ServiceExport and the policy that bring its
 * endpoints to the control plane. The key is the export's, and has the Service's name.
 */
export function createServiceExportReconciler(
  settings: ExportSettings,
  { store, lock, recorder }: ExportDependencies,
): Reconciler {
  const referringIngresses = createReferringIngresses()
  return {
    async reconcile(key, { reader, signal }) {
      const snapshot = await gatherServiceExport(key, settings, reader, signal, referringIngresses)
      const desired = serviceExportDesired(snapshot)
      for (const { type, reason, message } of desired.findings) {
        for (const owner of snapshot.owners) await recorder.record(owner, { type, reason, message }, signal)
      }
      if (isDone(desired)) return { kind: 'settled' }
      return withLock(lock, key, signal, async ({ lost }) => {
        await applyExport(desired, store, AbortSignal.any([signal, lost]))
        return { kind: 'settled' }
      })
    },
  }
}

function isDone({ serviceExport, policies }: ServiceExportDesired): boolean {
  return serviceExport.do === 'leave' && policies.every((policy) => policy.do === 'leave')
}

/** The export before its policy, and the policy gone before its export: a policy never selects what is not there. */
async function applyExport(
  { serviceExport, policies }: ServiceExportDesired,
  store: ClusterStore,
  signal: AbortSignal,
): Promise<void> {
  if (serviceExport.do === 'create') await applyChange('ServiceExport', serviceExport, store, signal)
  for (const policy of policies) await applyChange('PropagationPolicy', policy, store, signal)
  if (serviceExport.do === 'delete') await applyChange('ServiceExport', serviceExport, store, signal)
}
