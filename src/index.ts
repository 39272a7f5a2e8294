// What a provider author imports; the only file that re-exports.

export { type FunctionOptions, runFunction } from './compose/run-function.ts'
export { CatalogueError, ERROR_CODES, type ErrorCode } from './domain/catalogue-error.ts'
export type { Finding } from './domain/finding.ts'
export type { LoadBalancerIngress, LoadBalancerStatus } from './domain/load-balancer-status.ts'
export type { MultiClusterIngress, MultiClusterIngressSpec } from './domain/multi-cluster-ingress.ts'
export type { MultiClusterService, MultiClusterServiceSpec } from './domain/multi-cluster-service.ts'
export type { Clock } from './ports/clock.ts'
export type { Logger } from './ports/logger.ts'
export {
  ImplementedElsewhere,
  InstanceNotFound,
  isProviderError,
  NotImplemented,
  RetryAfter,
  Terminal,
} from './provider/errors.ts'
export type {
  BalancerIdentity,
  BalancerRecord,
  BalancerResult,
  LoadBalancer,
  MCSLoadBalancer,
  MultiClusterProvider,
  ProviderContext,
} from './provider/multicluster.ts'
export {
  createProviderRegistry,
  type ProviderFactory,
  type ProviderRegistry,
  type ProviderSetup,
} from './provider/registry.ts'
