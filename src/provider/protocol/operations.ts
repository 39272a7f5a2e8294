import type { Backends } from '../../domain/backends/backends.ts'
import type { Certificate } from '../../domain/backends/resolve-certificates.ts'
import type { Finding } from '../../domain/finding.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../domain/multi-cluster-service.ts'
import type { Node } from '../../domain/node.ts'
import type { Route } from '../../domain/nodes/route.ts'
import type { Service } from '../../domain/service.ts'
import type { BalancerOptions } from '../../domain/service-balancer/balancer-options.ts'
import type { CloudBalancerResult, InstanceMetadata } from '../cloud.ts'
import type { BalancerIdentity, BalancerRecord, BalancerResult, ListedBalancer } from '../multicluster.ts'

/**
 * The provider contract over HTTP: one POST a method, to `/v1/<operation>`, and `GET /v1/provider` (`Description`).
 * `openapi-provider.yaml` says the same for other languages.
 *
 * The version is in the media type and in the path. A new version is another media type; within one nothing changes.
 */
export const MEDIA_TYPE = 'application/vnd.webhook-cloud-provider.v1+json'

/** Of every refusal and failure, in every version (RFC 9457). */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

export const DESCRIPTION_PATH = '/v1/provider'

export function operationPath(operation: Operation): string {
  return `/v1/${operation}`
}

/** Schemas of request and answer (`PROTOCOL_SCHEMAS`), and which entry of `Description.serves` an operation is of. */
export const OPERATIONS = {
  'load-balancer/get': { of: 'MultiClusterIngress', request: 'GetRequest', answer: 'RecordAnswer' },
  'load-balancer/ensure': { of: 'MultiClusterIngress', request: 'EnsureRequest', answer: 'ResultAnswer' },
  'load-balancer/update': { of: 'MultiClusterIngress', request: 'EnsureRequest', answer: 'ResultAnswer' },
  'load-balancer/delete': { of: 'MultiClusterIngress', request: 'DeleteRequest', answer: 'AbsentAnswer' },
  'load-balancer/list': { of: 'MultiClusterIngress', request: 'ListRequest', answer: 'BalancersAnswer' },
  'load-balancer/validate': { of: 'MultiClusterIngress', request: 'ValidateRequest', answer: 'FindingsAnswer' },
  'mcs-load-balancer/get': { of: 'MultiClusterService', request: 'GetRequest', answer: 'RecordAnswer' },
  'mcs-load-balancer/ensure': { of: 'MultiClusterService', request: 'EnsureRequest', answer: 'ResultAnswer' },
  'mcs-load-balancer/update': { of: 'MultiClusterService', request: 'EnsureRequest', answer: 'ResultAnswer' },
  'mcs-load-balancer/delete': { of: 'MultiClusterService', request: 'DeleteRequest', answer: 'AbsentAnswer' },
  'mcs-load-balancer/list': { of: 'MultiClusterService', request: 'ListRequest', answer: 'BalancersAnswer' },
  'mcs-load-balancer/validate': { of: 'MultiClusterService', request: 'ValidateRequest', answer: 'FindingsAnswer' },
  'service-load-balancer/get': { of: 'Service', request: 'ServiceGetRequest', answer: 'RecordAnswer' },
  'service-load-balancer/ensure': { of: 'Service', request: 'ServiceEnsureRequest', answer: 'ServiceResultAnswer' },
  'service-load-balancer/update': { of: 'Service', request: 'ServiceEnsureRequest', answer: 'ServiceResultAnswer' },
  'service-load-balancer/delete': { of: 'Service', request: 'ServiceDeleteRequest', answer: 'AbsentAnswer' },
  'service-load-balancer/list': { of: 'Service', request: 'ClusterListRequest', answer: 'BalancersAnswer' },
  'service-load-balancer/validate': { of: 'Service', request: 'ServiceValidateRequest', answer: 'FindingsAnswer' },
  'instances/exists': { of: 'instances', request: 'NodeRequest', answer: 'ExistsAnswer' },
  'instances/shutdown': { of: 'instances', request: 'NodeRequest', answer: 'ShutdownAnswer' },
  'instances/metadata': { of: 'instances', request: 'NodeRequest', answer: 'MetadataAnswer' },
  'routes/list': { of: 'routes', request: 'ClusterListRequest', answer: 'RoutesAnswer' },
  'routes/create': { of: 'routes', request: 'RouteCreateRequest', answer: 'PresentAnswer' },
  'routes/delete': { of: 'routes', request: 'RouteDeleteRequest', answer: 'AbsentAnswer' },
} as const satisfies Record<string, { of: ServedName; request: string; answer: string }>

export type Operation = keyof typeof OPERATIONS

export type ServedName = 'MultiClusterIngress' | 'MultiClusterService' | 'Service' | 'instances' | 'routes'

/** What a provider can do. The client's configuration says the same, since it is asked before any call is made. */
export interface Serves {
  MultiClusterIngress?: ServedBalancer
  MultiClusterService?: ServedBalancer
  Service?: ServedServiceBalancer
  instances?: Record<string, never>
  routes?: Record<string, never>
}

export interface ServedBalancer {
  /** Whether it has `list`. */
  list?: boolean
  resourceBackends?: boolean
  externalName?: boolean
}

export interface ServedServiceBalancer {
  list?: boolean
  protocols?: ('TCP' | 'UDP' | 'SCTP')[]
  sourceRanges?: boolean
  target?: 'instance' | 'address'
  consistencyWindowMs?: number
}

/** Of the cloud under one cluster; absent where neither Services nor instances nor routes are served. */
export interface DescribedCloud {
  /** The scheme of the providerIDs. */
  providerName: string
  hasClusterID: boolean
}

/** The answer of `GET /v1/provider`. */
export interface Description {
  name: string
  serves: Serves
  consistencyWindowMs?: number
  cloud?: DescribedCloud
}

interface Timed {
  /** How long the caller will wait for the answer, in milliseconds. Then the call is aborted. */
  deadlineMs: number
}

/** Of get and delete. */
export interface IdentityContext extends Timed {
  identity: BalancerIdentity
  fence: string
}

/** Of ensure and update. */
export interface MakingContext extends IdentityContext {
  backends: Backends
  certificates: readonly Certificate[]
  fingerprint: string
}

export interface ServiceContext extends IdentityContext {
  options: BalancerOptions
}

export interface ServiceMakingContext extends ServiceContext {
  sourceRanges: readonly string[]
  /** Null where the provider's own default holds. */
  healthCheck: { protocol: 'http'; port: number; path: string } | null
  fingerprint: string
}

export interface ClusterContext extends Timed {
  clusterId: string
}

/** One page of a list. `continue` comes from the page before. */
interface Paged {
  limit: number
  continue?: string
}

interface BalancerExchanges<O> {
  get: { request: { object: O; context: IdentityContext }; answer: { record: BalancerRecord | null } }
  ensure: { request: { object: O; context: MakingContext }; answer: { result: BalancerResult } }
  /** `object` is null when it is gone. */
  delete: { request: { object: O | null; context: IdentityContext }; answer: { absent: true } }
  list: { request: Paged & { context: ClusterContext }; answer: { balancers: ListedBalancer[]; continue?: string } }
  validate: { request: { object: O; context: Timed }; answer: { findings: Finding[] } }
}

type InCluster<R> = R & { clusterName: string }

interface ServiceExchanges {
  get: {
    request: InCluster<{ object: Service; context: ServiceContext }>
    answer: { record: BalancerRecord | null }
  }
  ensure: {
    request: InCluster<{ object: Service; nodes: readonly Node[]; context: ServiceMakingContext }>
    answer: { result: CloudBalancerResult }
  }
  delete: { request: InCluster<{ object: Service | null; context: ServiceContext }>; answer: { absent: true } }
  list: {
    request: InCluster<Paged & { context: ClusterContext }>
    answer: { balancers: BalancerIdentity[]; continue?: string }
  }
  validate: {
    request: { object: Service; context: Timed & { options: BalancerOptions } }
    answer: { findings: Finding[] }
  }
}

interface NodeQuestion {
  node: Node
  context: ClusterContext
}

/** Request and answer of each operation. */
export interface Exchanges {
  'load-balancer/get': BalancerExchanges<MultiClusterIngress>['get']
  'load-balancer/ensure': BalancerExchanges<MultiClusterIngress>['ensure']
  'load-balancer/update': BalancerExchanges<MultiClusterIngress>['ensure']
  'load-balancer/delete': BalancerExchanges<MultiClusterIngress>['delete']
  'load-balancer/list': BalancerExchanges<MultiClusterIngress>['list']
  'load-balancer/validate': BalancerExchanges<MultiClusterIngress>['validate']
  'mcs-load-balancer/get': BalancerExchanges<MultiClusterService>['get']
  'mcs-load-balancer/ensure': BalancerExchanges<MultiClusterService>['ensure']
  'mcs-load-balancer/update': BalancerExchanges<MultiClusterService>['ensure']
  'mcs-load-balancer/delete': BalancerExchanges<MultiClusterService>['delete']
  'mcs-load-balancer/list': BalancerExchanges<MultiClusterService>['list']
  'mcs-load-balancer/validate': BalancerExchanges<MultiClusterService>['validate']
  'service-load-balancer/get': ServiceExchanges['get']
  'service-load-balancer/ensure': ServiceExchanges['ensure']
  'service-load-balancer/update': ServiceExchanges['ensure']
  'service-load-balancer/delete': ServiceExchanges['delete']
  'service-load-balancer/list': ServiceExchanges['list']
  'service-load-balancer/validate': ServiceExchanges['validate']
  'instances/exists': { request: NodeQuestion; answer: { exists: boolean } }
  'instances/shutdown': { request: NodeQuestion; answer: { shutdown: boolean } }
  /** Null: not known yet. */
  'instances/metadata': { request: NodeQuestion; answer: { metadata: InstanceMetadata | null } }
  'routes/list': {
    request: InCluster<Paged & { context: ClusterContext }>
    answer: { routes: Route[]; continue?: string }
  }
  'routes/create': {
    request: InCluster<{ nameHint: string; route: Route; context: ClusterContext }>
    answer: { present: true }
  }
  'routes/delete': { request: InCluster<{ route: Route; context: ClusterContext }>; answer: { absent: true } }
}

export type RequestOf<O extends Operation> = Exchanges[O]['request']
export type AnswerOf<O extends Operation> = Exchanges[O]['answer']
