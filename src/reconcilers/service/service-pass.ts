import type { ObjectKey } from '../../domain/object-key.ts'
import type { BalancerOptions } from '../../domain/service-balancer/balancer-options.ts'
import type { BalancerAbilities, BalancerRequest } from '../../domain/service-balancer/balancer-request.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { Digest } from '../../ports/digest.ts'
import type { HeldLock, Lock } from '../../ports/lock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { BalancerContext, CloudLoadBalancer, EnsureContext } from '../../provider/cloud.ts'
import { deadline } from '../deadline.ts'
import type { EventRecorder } from '../event-recorder.ts'
import { callProvider } from '../provider-call.ts'

export interface ServiceDependencies {
  loadBalancer: CloudLoadBalancer
  abilities: BalancerAbilities
  /** Passed to every call, as upstream's `--cluster-name`. */
  clusterName: string
  /** The class that is served; Services without one when undefined. */
  loadBalancerClass: string | undefined
  store: ClusterStore
  lock: Lock
  digest: Digest
  /** Writes as upstream's `service-controller`. */
  recorder: EventRecorder
  logger: Logger
  metrics: Metrics
  clock: Clock
  /** Names the control plane in every balancer's identity. */
  clusterId: string
  /** Let go of every Service that is held, whatever it asks for. */
  disowned: boolean
  /** Whether balancers of Services that are gone are removed, or only reported. */
  removeOrphans: boolean
  /** See `CloudLoadBalancer.consistencyWindowMs`. */
  consistencyWindowMs: number
  /** For one call to the provider; shorter than the deadline of the pass, so that a failure can still be told. */
  providerDeadlineMs: number
}

/** One run over one Service: what it may use, and until when. */
export interface ServicePass extends ServiceDependencies {
  key: ObjectKey & { kind: 'Service' }
  /** Aborts at the deadline, and when the lock is lost. */
  signal: AbortSignal
  /** Empty while only reading. */
  fence: string
  /** Undefined while only reading. */
  held?: HeldLock
  /** Whether the balancer of this uid is to be ensured, although nothing that we know has changed (R-SVC-25). */
  isVerificationDue: (uid: string) => boolean
}

/** A run that holds the lock of its Service, and may write. */
export interface HeldServicePass extends ServicePass {
  held: HeldLock
}

/** What a call is about. */
interface Subject {
  uid: string
  options: BalancerOptions
}

/** One call that reads or deletes, within its deadline. Nothing is asked for a lock that is lost. */
export function askCloud<R>(
  pass: ServicePass,
  subject: Subject,
  call: (loadBalancer: CloudLoadBalancer, context: BalancerContext) => Promise<R>,
): Promise<R> {
  return within(pass, (signal) => call(pass.loadBalancer, contextOf(pass, subject, signal)))
}

/** One call that makes something, within its deadline. */
export function tellCloud<R>(
  pass: ServicePass,
  uid: string,
  { options, sourceRanges, healthCheck, fingerprint }: BalancerRequest,
  call: (loadBalancer: CloudLoadBalancer, context: EnsureContext) => Promise<R>,
): Promise<R> {
  return within(pass, (signal) =>
    call(pass.loadBalancer, {
      ...contextOf(pass, { uid, options }, signal),
      sourceRanges,
      healthCheck,
      fingerprint,
    }),
  )
}

async function within<R>(
  { clock, providerDeadlineMs, key, signal: parent, held }: ServicePass,
  call: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  held?.check()
  const { signal, cancel } = deadline(clock, providerDeadlineMs, parent)
  return callProvider(key, signal, () => call(signal)).finally(cancel)
}

function contextOf(pass: ServicePass, { uid, options }: Subject, signal: AbortSignal): BalancerContext {
  const { key, logger, clusterId, fence } = pass
  const identity = { clusterId, kind: key.kind, namespace: key.namespace, name: key.name, uid }
  return { signal, logger, clusterId, identity, fence, options }
}
