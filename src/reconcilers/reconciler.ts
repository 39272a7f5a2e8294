import type { KubernetesObject } from '../domain/kubernetes-object.ts'
import type { ObjectKey } from '../domain/object-key.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import type { AnswersKnown } from './question.ts'

/** Brings one object to what it asks for. Reads the world itself; safe to repeat and to run beside another instance. */
export interface Reconciler {
  /** Throws what the API server or the provider answered; the caller turns that into an outcome. */
  reconcile(key: ObjectKey, pass: ReconcilePass): Promise<Outcome>
  /** What exists in the cloud for objects that exist no more: found, and removed when it was found before. */
  sweepOrphans?(pass: OrphanSweep): Promise<OrphanReport>
  /** The same for one call of a sweep over everything. Absent where nothing is remembered from sweep to sweep. */
  inSweep?(sweep: SweepCall): SweepingReconciler
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
  reader: ClusterReader & Partial<AnswersKnown>
  /** The reader answers from lists, which may be as old as a sweep: what is written is to be decided by others. */
  isOfList?: boolean
  /** Aborts at the deadline of the work. */
  signal: AbortSignal
  /** Of this name, as somebody said: uids of objects that are gone by now. */
  formerUids?: readonly string[]
  /** Whether what is in the cloud for this uid is to be verified, although nothing changed. */
  isVerificationDue?: (uid: string) => boolean
}

/** One call of a sweep that goes through every object. */
export interface SweepCall {
  /** It begins with the first object, and does not go on where another call ended. */
  isFromTheStart: boolean
  signal: AbortSignal
  isVerificationDue: (uid: string) => boolean
}

/** A reconciler in a sweep: what many objects need is asked for once, and what is settled still is said at once. */
export interface SweepingReconciler extends Reconciler {
  /** When what is asked for once is there, or could not be had. Never rejects. */
  ready(): Promise<void>
  /** Tells of objects of its kind, before any of them is asked for. */
  see(objects: readonly KubernetesObject[]): void
  /** Whether a pass would find nothing to do, where that can be said without asking anybody. */
  isSettled(key: ObjectKey, object: KubernetesObject | undefined, known: AnswersKnown): boolean
  /** The sweep is at its end. Names those that were said to be settled, and may not be in the light of later ones. */
  overlooked(): Promise<ObjectKey[]>
}
