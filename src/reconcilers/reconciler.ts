import type { ObjectKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'

/** Brings one object to what it asks for. Reads the world itself; safe to repeat and to run beside another instance. */
export interface Reconciler {
  /** Throws what the API server or the provider answered; the caller turns that into an outcome. */
  reconcile(key: ObjectKey, pass: ReconcilePass): Promise<Outcome>
  /** What exists in the cloud for objects that exist no more: found, and removed when it was found before. */
  sweepOrphans?(pass: OrphanSweep): Promise<OrphanReport>
}

export interface OrphanSweep {
  reader: ClusterReader
  signal: AbortSignal
  /** Whether the object of this uid was seen a moment ago, held by our finalizer: its balancer is no orphan. */
  isHeld: (uid: string) => boolean
}

export interface OrphanReport {
  /** Found, and still there. */
  found: number
  removed: number
}

export interface ReconcilePass {
  /** Fresh reads; a sweep answers from the page it has just listed. */
  reader: ClusterReader
  /** Aborts at the deadline of the work. */
  signal: AbortSignal
  /** Of this name, as somebody said: uids of objects that are gone by now. */
  formerUids?: readonly string[]
  /** Whether what is in the cloud for this uid is to be verified, although nothing changed. */
  isVerificationDue?: (uid: string) => boolean
}
