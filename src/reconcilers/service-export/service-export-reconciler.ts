import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { type ServiceExportDesired, serviceExportDesired } from '../../domain/propagation/service-export-desired.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Lock } from '../../ports/lock.ts'
import type { Memories } from '../../ports/memories.ts'
import { answeredStill } from '../answered-still.ts'
import { applyChange } from '../apply-change.ts'
import type { EventRecorder } from '../event-recorder.ts'
import type { Answer } from '../question.ts'
import type { ReconcilePass, Reconciler } from '../reconciler.ts'
import { createVersionsRead } from '../versions-read.ts'
import { withLock } from '../with-lock.ts'
import { createReferringIngresses, type ExportSettings, gatherServiceExport } from './gather-service-export.ts'

export interface ExportDependencies {
  store: ClusterStore
  lock: Lock
  recorder: EventRecorder
  /** What was read when there was nothing to do; what is forgotten is found out again. */
  settled: Memories<readonly Answer[]>
}

/**
 * Keeps, for a Service that an object of ours sends traffic to, the ServiceExport and the policy that bring its
 * endpoints to the control plane. The key is the export's, and has the Service's name.
 */
export function createServiceExportReconciler(
  settings: ExportSettings,
  { store, lock, recorder, settled }: ExportDependencies,
): Reconciler {
  const referringIngresses = createReferringIngresses()

  async function reconcile(key: ObjectKey, { reader, signal, isOfList = false }: ReconcilePass): Promise<Outcome> {
    const read = createVersionsRead(reader)
    const snapshot = await gatherServiceExport(key, settings, read.reader, signal, referringIngresses)
    const desired = serviceExportDesired(snapshot)
    for (const { type, reason, message } of desired.findings) {
      for (const owner of snapshot.owners) await recorder.record(owner, { type, reason, message }, signal)
    }
    if (isDone(desired)) {
      // Of lists there is one text for all who asked; of reads of its own each would keep one, as long as its namespace is big.
      if (isOfList && desired.findings.length === 0) settled.remember(key, NO_UID, read.answers())
      return { kind: 'settled' }
    }
    return withLock(lock, key, signal, async ({ lost }) => {
      const held = AbortSignal.any([signal, lost])
      const now = isOfList ? serviceExportDesired(await gatherServiceExport(key, settings, store, held)) : desired
      await applyExport(now, store, held)
      return { kind: 'settled' }
    })
  }

  return {
    reconcile,
    inSweep: () => ({
      ready: async () => {},
      see: () => {},
      isSettled(key, _, known) {
        const answers = settled.recall(key, NO_UID)
        return answers !== undefined && answeredStill(answers, known)
      },
      overlooked: async () => [],
      reconcile,
    }),
  }
}

/** There may be no object: its uid is in what was read. */
const NO_UID = ''

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
