import type { Backends } from '../domain/backends/backends.ts'
import type { Certificate } from '../domain/backends/resolve-certificates.ts'
import type { Finding } from '../domain/finding.ts'
import type { LoadBalancerStatus } from '../domain/load-balancer-status.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../domain/multi-cluster-service.ts'
import type { Logger } from '../ports/logger.ts'

/**
 * A cloud that balances over clusters. Implement one of the two interfaces or both; what is undefined is not served.
 *
 * The contract of every method:
 * - **Idempotent**, and harmless when two calls for one identity overlap: a lease cannot stop a call in flight.
 * - **Read-only arguments.** The object, the identity and the backends belong to the caller.
 * - **Absent is not an error.** `get…` answers undefined, `ensure…Deleted` returns.
 * - **Abort.** `context.signal` fires at the caller's deadline; reject soon after. What the cloud then finished
 *   anyway is found by the next `get…`, which must see what an aborted call left behind.
 * - **Errors.** `RetryAfter` for work in progress, `Terminal` for what only a change of the object can cure, anything
 *   else is retried with growing delay. Messages are shown to the object's owner: no secrets, no clock.
 * - **Identity.** A balancer belongs to (clusterId, kind, namespace, name, uid): name or tag it by all of them, and
 *   touch no balancer of another identity.
 *
 * Method names are those of karmada-io/multicluster-cloud-provider (cloud.go), so its users recognise them.
 */
export interface MultiClusterProvider {
  /** As registered: lower case, `[a-z0-9-]`, part of the finalizer's name. */
  readonly name: string
  readonly loadBalancer?: LoadBalancer
  readonly mcsLoadBalancer?: MCSLoadBalancer
  /**
   * How long after a create whose answer was lost the cloud may still bring the balancer, and `get…` may not show one
   * that exists. Within it "absent" proves nothing, and no finalizer is released. 0 when absent: what was made is seen.
   */
  readonly consistencyWindowMs?: number
}

/** Balancers for MultiClusterIngress (layer 7). */
export interface LoadBalancer {
  /** The balancer of this identity, or undefined when there is none. Changes nothing. */
  getLoadBalancer(ingress: MultiClusterIngress, context: ProviderContext): Promise<BalancerRecord | undefined>
  /** Creates it, or finishes and corrects one that exists. */
  ensureLoadBalancer(ingress: MultiClusterIngress, context: ProviderContext): Promise<BalancerResult>
  /** Brings an existing balancer to what the object asks. Called with an unchanged object too. */
  updateLoadBalancer(ingress: MultiClusterIngress, context: ProviderContext): Promise<BalancerResult>
  /**
   * Returns only when the balancer is proved absent; `RetryAfter` while it is going. The ingress is undefined when the
   * object is gone: then the provider answers from its own record, by `context.identity` alone.
   */
  ensureLoadBalancerDeleted(ingress: MultiClusterIngress | undefined, context: ProviderContext): Promise<void>
  /**
   * Every balancer of this control plane in the provider's record, for finding those whose object is gone. Balancers that
   * a user brought, keeps or disowned are not in it. Whole or not at all: what is cut off is an error.
   */
  listLoadBalancers?(context: ListContext): Promise<ListedBalancer[]>
  /** What it can send to beside pods; nothing when absent. What it cannot becomes an empty route and a Warning. */
  readonly supports?: BackendSupport
  /** Pure and quick, no cloud call: what is wrong with this object for this cloud. Asked by the validate door. */
  validate?(ingress: MultiClusterIngress): Finding[]
}

/** Balancers for MultiClusterService (layer 4). Contracts as for `LoadBalancer`. */
export interface MCSLoadBalancer {
  getMCSLoadBalancer(service: MultiClusterService, context: ProviderContext): Promise<BalancerRecord | undefined>
  ensureMCSLoadBalancer(service: MultiClusterService, context: ProviderContext): Promise<BalancerResult>
  updateMCSLoadBalancer(service: MultiClusterService, context: ProviderContext): Promise<BalancerResult>
  ensureMCSLoadBalancerDeleted(service: MultiClusterService | undefined, context: ProviderContext): Promise<void>
  listMCSLoadBalancers?(context: ListContext): Promise<ListedBalancer[]>
  readonly supports?: BackendSupport
  validate?(service: MultiClusterService): Finding[]
}

export interface BackendSupport {
  /** `backend.resource` of an ingress: the provider reads the resource itself. */
  resourceBackends?: boolean
  /** Services of type ExternalName: the provider resolves the DNS name. */
  externalName?: boolean
}

/** What a provider knows of a balancer that exists. */
export interface BalancerRecord {
  /** Undefined when it has no address yet. */
  status?: LoadBalancerStatus
  /** Of the last ensure or update that was finished, if the provider can store it. */
  fingerprint?: string
}

export interface BalancerResult {
  /** Undefined leaves the published status as it is; `{ ingress: [] }` clears it. */
  status?: LoadBalancerStatus
  /** For updates: whether anything in the cloud changed; an UpdatedLoadBalancer event is due only then. */
  changed?: boolean
}

/** Names a balancer for good. The uid tells an object from a later one of the same name. */
export interface BalancerIdentity {
  clusterId: string
  kind: 'MultiClusterIngress' | 'MultiClusterService' | 'Service'
  namespace: string
  name: string
  uid: string
}

/** One of a list. */
export interface ListedBalancer extends BalancerIdentity {
  /**
   * What `get…` answers of it at this moment, so that a sweep asks for the list instead of each balancer; absent where
   * that cannot be said for all, and `get…` is to be asked.
   */
  record?: BalancerRecord
}

export interface ListContext {
  signal: AbortSignal
  logger: Logger
  clusterId: string
}

export interface ProviderContext {
  /** Aborted at the caller's deadline, or when the lock on the object is lost. */
  signal: AbortSignal
  logger: Logger
  identity: BalancerIdentity
  /** Grows with every new holder of the object's lock; a cloud that can refuses calls with an older one. */
  fence: string
  /** Where to send traffic; a provider needs no other look at the control plane. Empty while only reading or deleting. */
  backends: Backends
  /** Certificates of an ingress, with their keys: never to be logged. Empty while only reading or deleting. */
  certificates: readonly Certificate[]
  /**
   * Stands for everything the balancer is computed from; empty while only reading or deleting. A provider that stores it with the balancer and returns it
   * from `get…` is not called again while it is equal.
   */
  fingerprint: string
}
