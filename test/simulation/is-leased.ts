import { leaseName } from '../../src/adapters/lease/lease-name.ts'
import { sha256 } from '../../src/adapters/system/sha256.ts'
import type { Lease } from '../../src/domain/lease.ts'
import { holderOf } from '../../src/domain/lease-record.ts'
import type { ObjectKey } from '../../src/domain/object-key.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { FINALIZER, LOCK_NAMESPACE, MARGIN_MS } from './sim-config.ts'
import { listObjects } from './sim-objects.ts'

/** Whether the Lease of this object is in its name: by the API server's clock, with the margin that others wait. */
export function isLeased(core: ControlPlaneCore, id: string, key: ObjectKey, now: number): boolean {
  const name = leaseName(FINALIZER, key, sha256)
  const lease = listObjects<Lease>(core, 'Lease', LOCK_NAMESPACE).find(({ metadata }) => metadata.name === name)
  return lease !== undefined && holderOf(lease, now, MARGIN_MS) === id
}
