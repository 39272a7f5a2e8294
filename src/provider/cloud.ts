import type { Finding } from '../domain/finding.ts'
import type { Node, NodeAddress } from '../domain/node.ts'
import type { Route } from '../domain/nodes/route.ts'
import type { Service } from '../domain/service.ts'
import type { BalancerOptions } from '../domain/service-balancer/balancer-options.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { Logger } from '../ports/logger.ts'
import type { BalancerIdentity, BalancerRecord, BalancerResult } from './multicluster.ts'

/**
 * A cloud under one Kubernetes cluster: what a cloud controller manager is built around. Method names are those of
 * k8s.io/cloud-provider (cloud.go), so that its users recognise them.
 *
 * A capability is asked for at start, once. Undefined means that the cloud has none, and the controllers that need it
 * do not run; the others do. A provider in the form of 2019 has no `instancesV2` and runs as it is.
 *
 * The contract of every call into a capability:
 * - **Idempotent**, and harmless when two calls overlap: a lease cannot stop a call in flight.
 * - **Read-only arguments.** Services, nodes and routes belong to the caller.
 * - **Absent is not an error.** `get…` answers undefined, `ensure…Deleted` and `deleteRoute` return, `instanceExists`
 *   answers false.
 * - **Unknown is not absent.** What could not be asked throws; a false or undefined is believed, and a Node or a
 *   finalizer goes because of it.
 * - **Abort.** `context.signal` fires at the caller's deadline; reject soon after. Never wait for a cloud inside a call:
 *   throw `RetryAfter` and be called again.
 * - **Errors.** `RetryAfter` for work in progress, `Terminal` for what only a change of the object can cure,
 *   `ImplementedElsewhere`, `InstanceNotFound` and `NotImplemented` as in Go; anything else is retried with growing
 *   delay. Messages are shown to the object's owner: no secrets, no clock.
 */
export interface CloudProvider {
  /** Called once before anything else. Starts nothing that must outlive a request, and makes no network call. */
  initialize(clients: ClientBuilder, stop: AbortSignal): void
  loadBalancer(): CloudLoadBalancer | undefined
  /** Asked only where `instancesV2` gives nothing. */
  instances(): Instances | undefined
  /** When present, `instances` and `zones` are never called (R-IF-6). Absent in the form of 2019. */
  instancesV2?(): InstancesV2 | undefined
  /** Asked only where `instancesV2` gives nothing. */
  zones(): Zones | undefined
  /** Part of the interface, and called by no controller. */
  clusters(): Clusters | undefined
  routes(): Routes | undefined
  /** As registered; the scheme of the providerIDs. */
  providerName(): string
  /** Whether what it makes is marked with the cluster. Without it two clusters of one account touch each other's. */
  hasClusterID(): boolean
}

/** A client of the API server for each of the cloud's own loops, by name. A function has no such loops; kept for the form. */
export interface ClientBuilder {
  client(name: string): ClusterStore
}

/** Handed to every call. */
export interface CloudContext {
  /** Aborted at the caller's deadline, or when the lock is lost. */
  signal: AbortSignal
  logger: Logger
  /** Names the control plane in marks of what is made; beside it, every call that had one in Go has the cluster's name. */
  clusterId: string
}

/**
 * Balancers for Services of type LoadBalancer.
 *
 * A balancer belongs to `context.identity` (clusterId, kind, namespace, name, uid): mark it by all of them, and touch
 * none of another identity. A Service that is made anew under its old name is another identity; where the cloud's names
 * are not unique, `RetryAfter` until the old one is gone.
 *
 * A provider that leaves a Service to another controller throws `ImplementedElsewhere` from ensure and update, answers
 * undefined from get, and just deletes what it is asked to delete (R-IF-4).
 */
export interface CloudLoadBalancer {
  /**
   * The balancer of this identity as it is now, undefined when nothing of it is left. A balancer in error, or one that
   * was deleted in part, exists. `fingerprint` is that of the last ensure or update that was finished, and is left out
   * where the balancer is seen to differ from it: that is how changes made by hand in the cloud are repaired.
   */
  getLoadBalancer(clusterName: string, service: Service, context: BalancerContext): Promise<BalancerRecord | undefined>
  /** `defaultLoadBalancerName(service)` unless the cloud wants another form. Pure. */
  getLoadBalancerName(clusterName: string, service: Service): string
  /**
   * Makes it, or brings everything about it to what is asked: ports, addresses, options, hosts. Go's status is `status`
   * here, beside what else there is to tell; nothing at all leaves what is published.
   */
  ensureLoadBalancer(
    clusterName: string,
    service: Service,
    nodes: readonly Node[],
    context: EnsureContext,
  ): Promise<CloudBalancerAnswer>
  /**
   * Brings the hosts of an existing balancer to these nodes; all else is as the last ensure left it. May return nothing,
   * as in Go. Called only where `getLoadBalancer` answers a fingerprint; without one every change is an ensure.
   */
  updateLoadBalancer(
    clusterName: string,
    service: Service,
    nodes: readonly Node[],
    context: EnsureContext,
  ): Promise<CloudBalancerAnswer>
  /**
   * Returns only when it is proved absent, parts of it included; `RetryAfter` while it is going. Works in every state of
   * the balancer. The Service is undefined when the object is gone: then the provider answers from its own record.
   */
  ensureLoadBalancerDeleted(clusterName: string, service: Service | undefined, context: BalancerContext): Promise<void>
  /**
   * Every balancer of this cluster in the provider's record, for finding those whose Service is gone. Balancers that a
   * user brought, keeps or disowned are not in it.
   */
  listLoadBalancers?(clusterName: string, context: CloudContext): Promise<BalancerIdentity[]>
  /** What is refused before a call is made; nothing when absent but TCP. */
  readonly supports?: BalancerSupport
  /** Pure and quick, no cloud call: what is wrong with this Service for this cloud. Asked by the validate door. */
  validate?(service: Service, options: BalancerOptions): Finding[]
  /** As in `MultiClusterProvider`: how long after a create whose answer was lost "absent" proves nothing. 0 when absent. */
  readonly consistencyWindowMs?: number
}

export interface BalancerSupport {
  /** Only TCP when absent. A port of another protocol fails the Service; it is never served as TCP. */
  protocols?: readonly ('TCP' | 'UDP' | 'SCTP')[]
  /** Whether sources can be restricted. Without it a Service that asks for it fails; it is never open instead. */
  sourceRanges?: boolean
  /** How hosts are reached: by instance when absent; by address, a node's new address is a change of the balancer. */
  target?: 'instance' | 'address'
}

export interface BalancerContext extends CloudContext {
  identity: BalancerIdentity
  /** Grows with every new holder of the object's lock; a cloud that can refuses calls with an older one. */
  fence: string
  /** The Service's annotations, parsed. Those that cannot be parsed are left out while only reading or deleting. */
  options: BalancerOptions
}

/** For calls that make something. */
export interface EnsureContext extends BalancerContext {
  /** Networks that may connect; the whole networks of the Service's families when nothing restricts them. Never empty. */
  sourceRanges: readonly string[]
  /** What tells a host that serves from one that does not; undefined where the provider's own default holds. */
  healthCheck: { protocol: 'http'; port: number; path: string } | undefined
  /** Stands for everything the balancer is computed from, hosts included. Store it with the balancer, as it is. */
  fingerprint: string
}

export interface CloudBalancerResult extends BalancerResult {
  /**
   * `changed` as for updates, of ensure too: a provider that stores no fingerprint is called at every look, and only what
   * it says to have changed makes an event.
   */
  changed?: boolean
  /** What could not be done as asked, though the balancer serves: shown to the owner. */
  warnings?: readonly BalancerWarning[]
}

/** A provider in the form of Go returns nothing where it has nothing to tell. */
// biome-ignore lint/suspicious/noConfusingVoidType: a method without a return statement is one of these providers
export type CloudBalancerAnswer = CloudBalancerResult | undefined | void

export interface BalancerWarning {
  reason: 'PortNotServed' | 'OptionNotApplied' | 'NodeSkipped' | 'LoadBalancerMissing'
  message: string
}

/** What a cloud says of an instance in one call. */
export interface InstancesV2 {
  /** True for a stopped instance too; false only when it is gone for good, and then its Node is deleted. */
  instanceExists(node: Node, context: CloudContext): Promise<boolean>
  instanceShutdown(node: Node, context: CloudContext): Promise<boolean>
  /** Looked up by `spec.providerID`, else by name. Undefined: not known yet, the node is left as it is. */
  instanceMetadata(node: Node, context: CloudContext): Promise<InstanceMetadata | undefined>
}

export interface InstanceMetadata {
  /** `<provider>://<instance>`; empty when not known. */
  providerID: string
  instanceType: string
  nodeAddresses: NodeAddress[]
  zone: string
  region: string
  additionalLabels?: Readonly<Record<string, string>>
}

/** The older form: one question a call, by name or by providerID. Throws `InstanceNotFound` for what does not exist. */
export interface Instances {
  nodeAddresses(name: string, context: CloudContext): Promise<NodeAddress[]>
  nodeAddressesByProviderID(providerID: string, context: CloudContext): Promise<NodeAddress[]>
  /** Without the scheme: what follows `<provider>://`. */
  instanceID(nodeName: string, context: CloudContext): Promise<string>
  instanceType(name: string, context: CloudContext): Promise<string>
  instanceTypeByProviderID(providerID: string, context: CloudContext): Promise<string>
  addSSHKeyToAllInstances(user: string, keyData: Uint8Array, context: CloudContext): Promise<void>
  currentNodeName(hostname: string, context: CloudContext): Promise<string>
  instanceExistsByProviderID(providerID: string, context: CloudContext): Promise<boolean>
  instanceShutdownByProviderID(providerID: string, context: CloudContext): Promise<boolean>
}

export interface Zone {
  failureDomain: string
  region: string
}

export interface Zones {
  /** Of the machine this runs on; has no meaning for a function. */
  getZone(context: CloudContext): Promise<Zone>
  getZoneByProviderID(providerID: string, context: CloudContext): Promise<Zone>
  getZoneByNodeName(nodeName: string, context: CloudContext): Promise<Zone>
}

export interface Clusters {
  listClusters(context: CloudContext): Promise<string[]>
  /** The address of the cluster's API server. */
  master(clusterName: string, context: CloudContext): Promise<string>
}

/** Routes between the pod networks of nodes. List only what is this cluster's: what is listed may be deleted (R-RT-10). */
export interface Routes {
  listRoutes(clusterName: string, context: CloudContext): Promise<Route[]>
  /** Makes the route, or returns when exactly this one exists. */
  createRoute(clusterName: string, nameHint: string, route: Route, context: CloudContext): Promise<void>
  /** Given as it was listed. */
  deleteRoute(clusterName: string, route: Route, context: CloudContext): Promise<void>
}
