// What a provider author imports; the only file that re-exports.

export { decodeLambdaEvent } from './adapters/lambda/decode-lambda-event.ts'
export { encodeLambdaAnswer } from './adapters/lambda/encode-lambda-answer.ts'
export type { LambdaAnswer, LambdaEvent } from './adapters/lambda/lambda-event.ts'
export { type DrainFunctionOptions, drainFunction } from './compose/drain-function.ts'
export type { DrainResult } from './compose/drain-objects.ts'
export { createFunctionHandler, type FunctionHandler, type HandlerOptions } from './compose/function-handler.ts'
export { type FunctionOptions, runFunction } from './compose/run-function.ts'
export { CatalogueError, ERROR_CODES, type ErrorCode } from './domain/catalogue-error.ts'
export type { Finding } from './domain/finding.ts'
export type { LoadBalancerIngress, LoadBalancerStatus } from './domain/load-balancer-status.ts'
export type { MultiClusterIngress, MultiClusterIngressSpec } from './domain/multi-cluster-ingress.ts'
export type { MultiClusterService, MultiClusterServiceSpec } from './domain/multi-cluster-service.ts'
export type { Node, NodeAddress } from './domain/node.ts'
export type { Route } from './domain/nodes/route.ts'
export type { Service, ServiceSpec } from './domain/service.ts'
export type { BalancerOptions } from './domain/service-balancer/balancer-options.ts'
export { defaultLoadBalancerName } from './domain/service-balancer/default-load-balancer-name.ts'
export type { Clock } from './ports/clock.ts'
export type { Logger } from './ports/logger.ts'
export type { PlatformAnswer, PlatformRequest } from './ports/platform-request.ts'
export type {
  BalancerContext,
  BalancerSupport,
  BalancerWarning,
  ClientBuilder,
  CloudBalancerAnswer,
  CloudBalancerResult,
  CloudContext,
  CloudLoadBalancer,
  CloudProvider,
  Clusters,
  EnsureContext,
  InstanceMetadata,
  Instances,
  InstancesV2,
  Routes,
  Zone,
  Zones,
} from './provider/cloud.ts'
export {
  type CloudProviderFactory,
  type CloudRegistry,
  type CloudSetup,
  createCloudRegistry,
} from './provider/cloud-registry.ts'
export {
  DiskNotFound,
  ImplementedElsewhere,
  InstanceNotFound,
  isProviderError,
  NotImplemented,
  RetryAfter,
  Terminal,
} from './provider/errors.ts'
export { instanceProviderID } from './provider/instance-provider-id.ts'
export type {
  BalancerIdentity,
  BalancerRecord,
  BalancerResult,
  ListedBalancer,
  LoadBalancer,
  MCSLoadBalancer,
  MultiClusterProvider,
  ProviderContext,
} from './provider/multicluster.ts'
export type { Provider } from './provider/provider.ts'
export {
  createProviderRegistry,
  type ProviderFactory,
  type ProviderRegistry,
  type ProviderSetup,
} from './provider/registry.ts'
