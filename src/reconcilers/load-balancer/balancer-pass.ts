import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Digest } from '../../ports/digest.ts'
import type { Lock } from '../../ports/lock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ProviderContext } from '../../provider/multicluster.ts'
import type { EventRecorder } from '../event-recorder.ts'
import { callProvider } from '../provider-call.ts'
import type { BalancedKind, BalancedResource } from './balanced-resource.ts'
import type { BalancerCalls } from './balancer-calls.ts'

export interface BalancerDependencies {
  store: ClusterStore
  lock: Lock
  digest: Digest
  recorder: EventRecorder
  logger: Logger
  /** Names the control plane in every balancer's identity. */
  clusterId: string
  /** Ours. */
  finalizer: string
}

/** One run over one object: what it may use, and until when. */
export interface BalancerPass<K extends BalancedKind> extends BalancerDependencies {
  resource: BalancedResource<K>
  key: ObjectKey & { kind: K }
  /** Aborts at the deadline, and when the lock is lost. */
  signal: AbortSignal
  /** Empty while only reading. */
  fence: string
}

/** Calls the provider about the object of this uid. */
export function askProvider<K extends BalancedKind, R>(
  pass: BalancerPass<K>,
  about: { uid: string; fingerprint: string },
  call: (calls: BalancerCalls<ObjectOfKind[K]>, context: ProviderContext) => Promise<R>,
): Promise<R> {
  const { key, signal, resource, fence, clusterId, logger } = pass
  const context: ProviderContext = {
    signal,
    logger,
    identity: { clusterId, kind: key.kind, namespace: key.namespace, name: key.name, uid: about.uid },
    fence,
    fingerprint: about.fingerprint,
  }
  return callProvider(key, signal, () => call(required(resource), context))
}

/** Decisions that call the provider are made only for a provider that can. */
function required<K extends BalancedKind>({ calls, kind }: BalancedResource<K>): BalancerCalls<ObjectOfKind[K]> {
  if (calls === undefined) throw new TypeError(`the provider does not serve ${kind}`)
  return calls
}
