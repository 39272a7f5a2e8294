import type { BackendFinding } from '../../domain/backends/backend-finding.ts'
import type { ResolvedBackends } from '../../domain/backends/resolve-backends.ts'
import type { Certificate } from '../../domain/backends/resolve-certificates.ts'
import type { Finding } from '../../domain/finding.ts'
import type { HostConflict } from '../../domain/host-conflicts.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Ownership } from '../../domain/ownership.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { SweepCall } from '../reconciler.ts'
import type { BalancerCalls } from './balancer-calls.ts'
import type { ComputedStatus } from './computed-status.ts'
import type { BackendWorld } from './gather-backend-world.ts'

export type BalancedKind = 'MultiClusterIngress' | 'MultiClusterService'

/** What differs between the kinds that are balanced. */
export interface BalancedResource<K extends BalancedKind> {
  kind: K
  /** Undefined when the provider does not serve this kind. */
  calls: BalancerCalls<ObjectOfKind[K]> | undefined
  /** Reads what is needed to say whose the object is. Throws when the API could not be asked. */
  ownershipOf(object: ObjectOfKind[K], reader: ClusterReader, signal: AbortSignal): Promise<Ownership>
  /**
   * The object as it is now, where that comes with something else that has to be read; undefined where it does not, and
   * the object is to be read by itself.
   */
  readAgain?(object: ObjectOfKind[K], signal: AbortSignal): Promise<{ object: ObjectOfKind[K] | undefined } | undefined>
  /** What Karmada's rules find wrong with an object that is stored all the same. */
  faultsOf(object: ObjectOfKind[K]): Finding[]
  /** Reads everything that the balancer is made from besides. Throws when the API could not be asked. */
  surroundingsOf(
    object: ObjectOfKind[K],
    reader: ClusterReader,
    signal: AbortSignal,
    /** Where they are known. */
    conflicts: readonly HostConflict[] | undefined,
  ): Promise<Surroundings>
  /** In a sweep, of which all objects are told. Absent where no object can be in conflict with another. */
  conflictsInSweep?(call: SweepCall): ConflictsInSweep<ObjectOfKind[K]>
  /** By the object and its surroundings alone. */
  resolve(object: ObjectOfKind[K], surroundings: Surroundings): ResolvedObject
  /** What is published on objects that are not ours, where that is wanted. */
  statusOfOthers?(object: ObjectOfKind[K], reader: ClusterReader, signal: AbortSignal): Promise<ComputedStatus>
}

/** Who is in conflict with whom, as far as a sweep has come. */
export interface ConflictsInSweep<T> {
  /** A page, before its objects are asked for. */
  see(objects: readonly T[]): void
  /** With those that were seen; undefined where that does not tell. */
  conflictsOf(object: T): HostConflict[] | undefined
  /** The end: all were seen by now. Names those that may have come into other conflicts after they were asked for. */
  overlooked(): Promise<ObjectKey[]>
}

/** What an object is served in. */
export interface Surroundings {
  world: BackendWorld
  /** Paths of the object that others have. */
  conflicts: readonly HostConflict[]
}

/** What an object comes to in the world as it is. */
export interface ResolvedObject {
  /** What is asked of the provider: the object's own spec, or what is left of it. */
  spec: ObjectOfKind[BalancedKind]['spec']
  backends: ResolvedBackends
  certificates: Certificate[]
  /** Beside those of the backends. */
  findings: BackendFinding[]
  status: ComputedStatus
}
