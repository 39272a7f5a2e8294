import type { PoolMemory } from '../../domain/backends/pool-memory.ts'
import type { HostConflict } from '../../domain/host-conflicts.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Digest } from '../../ports/digest.ts'
import type { HeldLock, Lock } from '../../ports/lock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Memories } from '../../ports/memories.ts'
import type { Tracer } from '../../ports/tracer.ts'
import type { BalancerRecord, ProviderContext } from '../../provider/multicluster.ts'
import { deadline } from '../deadline.ts'
import type { EventRecorder } from '../event-recorder.ts'
import { callProvider } from '../provider-call.ts'
import type { BalancedKind, BalancedResource } from './balanced-resource.ts'
import type { BalancerCalls } from './balancer-calls.ts'
import type { BalancerInputs } from './balancer-snapshot.ts'
import type { SettledPass } from './settled-pass.ts'

export interface BalancerDependencies {
  store: ClusterStore
  lock: Lock
  digest: Digest
  recorder: EventRecorder
  logger: Logger
  tracer: Tracer
  /** Names the control plane in every balancer's identity. */
  clusterId: string
  /** Ours. */
  finalizer: string
  /** Whether objects that the Go manager holds are taken over. */
  takeOver: boolean
  /** Nothing is ours any more: what we hold is cleaned up and let go. */
  disowned: boolean
  /** Whether balancers of objects that are gone are removed, or only reported. */
  removeOrphans: boolean
  /** See `MultiClusterProvider.consistencyWindowMs`. */
  consistencyWindowMs: number
  clock: Clock
  /**
   * What the pools of an object served, so that endpoints that vanish for a moment empty no pool. Once it is forgotten
   * everything may have served, and is held once more.
   */
  pools: Memories<PoolMemory>
  /** How objects were found settled; what is forgotten is found out again. */
  settled: Memories<SettledPass>
  /** How long a pool whose endpoints vanished keeps what it had. */
  poolGraceMs: number
  /** For one call to the provider; shorter than the deadline of the pass, so that a failure can still be published. */
  providerDeadlineMs: number
}

/** One run over one object: what it may use, and until when. */
export interface BalancerPass<K extends BalancedKind> extends BalancerDependencies {
  resource: BalancedResource<K>
  key: ObjectKey & { kind: K }
  /** Aborts at the deadline, and when the lock is lost. */
  signal: AbortSignal
  /** Empty while only reading. */
  fence: string
  /** Undefined while only reading. */
  held?: HeldLock
  /** Whether what is in the cloud for this uid is to be verified, although nothing that we know has changed. */
  isVerificationDue: (uid: string) => boolean
  /** Undefined where everything is asked for. */
  assumed?: Assumed<ObjectOfKind[K]>
}

/**
 * What was asked for once, for many objects. It is good for finding that nothing is to be done, and for nothing else:
 * whatever else follows from it is found out again without it.
 */
export interface Assumed<T> {
  /** What the provider said of this object's balancer in a list; undefined where it is to be asked. */
  recordOf(object: T): BalancerRecord | undefined
  /** With the objects that were seen so far; undefined where that does not tell. */
  conflictsOf(object: T): HostConflict[] | undefined
}

/** A run that holds the lock of its object, and may write. */
export interface HeldPass<K extends BalancedKind> extends BalancerPass<K> {
  held: HeldLock
}

/** What a call is about: the object by its uid, and, to serve it, what it is made from. */
export interface Subject {
  uid: string
  inputs?: Pick<BalancerInputs, 'backends' | 'certificates' | 'fingerprint'>
}

/** Nothing is asked for a lock that is lost, whatever the provider makes of the signal. */
export async function askProvider<K extends BalancedKind, R>(
  pass: BalancerPass<K>,
  { uid, inputs = NOTHING }: Subject,
  call: (calls: BalancerCalls<ObjectOfKind[K]>, context: ProviderContext) => Promise<R>,
): Promise<R> {
  const { key, resource, fence, clusterId, logger, clock, providerDeadlineMs } = pass
  pass.held?.check()
  const { backends, certificates, fingerprint } = inputs
  const identity = { clusterId, kind: key.kind, namespace: key.namespace, name: key.name, uid }
  const { signal, cancel } = deadline(clock, providerDeadlineMs, pass.signal)
  const context: ProviderContext = { signal, logger, identity, fence, fingerprint, backends, certificates }
  return callProvider(key, signal, () => call(required(resource), context)).finally(cancel)
}

const NOTHING = { backends: { services: [] }, certificates: [], fingerprint: '' }

/** Decisions that call the provider are made only for a provider that can. */
function required<K extends BalancedKind>({ calls, kind }: BalancedResource<K>): BalancerCalls<ObjectOfKind[K]> {
  if (calls === undefined) throw new TypeError(`the provider does not serve ${kind}`)
  return calls
}
