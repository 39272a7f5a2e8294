import type { Node } from '../../domain/node.ts'
import type { Route } from '../../domain/nodes/route.ts'
import type { CloudContext, CloudLoadBalancer } from '../../provider/cloud.ts'
import type {
  BalancerIdentity,
  BalancerRecord,
  ListContext,
  ListedBalancer,
  LoadBalancer,
  MCSLoadBalancer,
  ProviderContext,
} from '../../provider/multicluster.ts'
import type {
  AnswerOf,
  ClusterContext,
  IdentityContext,
  MakingContext,
  Operation,
  RequestOf,
  ServiceContext,
  ServiceMakingContext,
} from '../../provider/protocol/operations.ts'
import { cleanDetail } from '../../provider/protocol/problem.ts'
import type { Provider } from '../../provider/provider.ts'
import { type InstanceSource, instanceSource } from '../../reconcilers/node/instance-source.ts'
import { type Calling, served } from './calling.ts'
import { pageOf } from './page-of.ts'

/** Calls the provider as the contract says, with a request that has the form of its schema. */
export async function answerOperation<O extends Operation>(
  operation: O,
  provider: Provider,
  request: RequestOf<O>,
  calling: Calling,
): Promise<AnswerOf<O>> {
  return ANSWERS[operation](provider, request, calling)
}

type Answers = {
  [O in Operation]: (provider: Provider, request: RequestOf<O>, calling: Calling) => Promise<AnswerOf<O>>
}

const ANSWERS: Answers = {
  'load-balancer/get': async (provider, { object, context }, calling) =>
    recordAnswer(await ingresses(provider).getLoadBalancer(object, reading(context, calling))),
  'load-balancer/ensure': async (provider, { object, context }, calling) =>
    resultAnswer(await ingresses(provider).ensureLoadBalancer(object, making(context, calling))),
  'load-balancer/update': async (provider, { object, context }, calling) =>
    resultAnswer(await ingresses(provider).updateLoadBalancer(object, making(context, calling))),
  'load-balancer/delete': async (provider, { object, context }, calling) => {
    await ingresses(provider).ensureLoadBalancerDeleted(object ?? undefined, reading(context, calling))
    return { absent: true }
  },
  'load-balancer/list': async (provider, request, calling) => {
    const balancer = ingresses(provider)
    served(balancer.listLoadBalancers, 'load-balancer/list')
    return balancersAnswer((await balancer.listLoadBalancers?.(listing(request.context, calling))) ?? [], request)
  },
  'load-balancer/validate': async (provider, { object }) => ({
    findings: (ingresses(provider).validate?.(object) ?? []).map(withShownMessage),
  }),

  'mcs-load-balancer/get': async (provider, { object, context }, calling) =>
    recordAnswer(await services(provider).getMCSLoadBalancer(object, reading(context, calling))),
  'mcs-load-balancer/ensure': async (provider, { object, context }, calling) =>
    resultAnswer(await services(provider).ensureMCSLoadBalancer(object, making(context, calling))),
  'mcs-load-balancer/update': async (provider, { object, context }, calling) =>
    resultAnswer(await services(provider).updateMCSLoadBalancer(object, making(context, calling))),
  'mcs-load-balancer/delete': async (provider, { object, context }, calling) => {
    await services(provider).ensureMCSLoadBalancerDeleted(object ?? undefined, reading(context, calling))
    return { absent: true }
  },
  'mcs-load-balancer/list': async (provider, request, calling) => {
    const balancer = services(provider)
    served(balancer.listMCSLoadBalancers, 'mcs-load-balancer/list')
    return balancersAnswer((await balancer.listMCSLoadBalancers?.(listing(request.context, calling))) ?? [], request)
  },
  'mcs-load-balancer/validate': async (provider, { object }) => ({
    findings: (services(provider).validate?.(object) ?? []).map(withShownMessage),
  }),

  'service-load-balancer/get': async (provider, { clusterName, object, context }, calling) =>
    recordAnswer(await ofCluster(provider).getLoadBalancer(clusterName, object, ofService(context, calling))),
  'service-load-balancer/ensure': async (provider, { clusterName, object, nodes, context }, calling) =>
    serviceResultAnswer(
      await ofCluster(provider).ensureLoadBalancer(clusterName, object, nodes, makingService(context, calling)),
    ),
  'service-load-balancer/update': async (provider, { clusterName, object, nodes, context }, calling) =>
    serviceResultAnswer(
      await ofCluster(provider).updateLoadBalancer(clusterName, object, nodes, makingService(context, calling)),
    ),
  'service-load-balancer/delete': async (provider, { clusterName, object, context }, calling) => {
    const balancer = ofCluster(provider)
    await balancer.ensureLoadBalancerDeleted(clusterName, object ?? undefined, ofService(context, calling))
    return { absent: true }
  },
  'service-load-balancer/list': async (provider, request, calling) => {
    const balancer = ofCluster(provider)
    served(balancer.listLoadBalancers, 'service-load-balancer/list')
    const listed = await balancer.listLoadBalancers?.(request.clusterName, listing(request.context, calling))
    return balancersAnswer(listed ?? [], request)
  },
  'service-load-balancer/validate': async (provider, { object, context }) => ({
    findings: (ofCluster(provider).validate?.(object, context.options) ?? []).map(withShownMessage),
  }),

  'instances/exists': async (provider, request, calling) => ({
    exists: await askOf(provider, request, calling, (source, node, context) => source.exists(node, context)),
  }),
  'instances/shutdown': async (provider, request, calling) => ({
    shutdown: await askOf(provider, request, calling, (source, node, context) => source.isShutDown(node, context)),
  }),
  'instances/metadata': async (provider, request, calling) => ({
    metadata:
      (await askOf(provider, request, calling, (source, node, context) => source.metadata(node, context))) ?? null,
  }),

  'routes/list': async (provider, request, calling) => {
    const routes = await routesOf(provider).listRoutes(request.clusterName, listing(request.context, calling))
    const { entries, ...rest } = pageOf(routes, routeKey, request)
    return { routes: entries, ...rest }
  },
  'routes/create': async (provider, { clusterName, nameHint, route, context }, calling) => {
    await routesOf(provider).createRoute(clusterName, nameHint, route, listing(context, calling))
    return { present: true }
  },
  'routes/delete': async (provider, { clusterName, route, context }, calling) => {
    await routesOf(provider).deleteRoute(clusterName, route, listing(context, calling))
    return { absent: true }
  },
}

function ingresses({ loadBalancer }: Provider): LoadBalancer {
  return served(loadBalancer, 'MultiClusterIngress')
}

function services({ mcsLoadBalancer }: Provider): MCSLoadBalancer {
  return served(mcsLoadBalancer, 'MultiClusterService')
}

function ofCluster({ cloudProvider }: Provider): CloudLoadBalancer {
  return served(cloudProvider?.loadBalancer(), 'Service')
}

function routesOf({ cloudProvider }: Provider) {
  return served(cloudProvider?.routes(), 'routes')
}

/** Either form of the interface. */
function askOf<T>(
  { cloudProvider }: Provider,
  { node, context }: { node: Node; context: ClusterContext },
  calling: Calling,
  ask: (source: InstanceSource, node: Node, context: CloudContext) => Promise<T>,
): Promise<T> {
  const source = served(cloudProvider && instanceSource(cloudProvider), 'instances')
  return ask(source, node, listing(context, calling))
}

function reading({ identity, fence }: IdentityContext, calling: Calling): ProviderContext {
  return { ...calling, identity, fence, backends: { services: [] }, certificates: [], fingerprint: '' }
}

function making(context: MakingContext, calling: Calling): ProviderContext {
  const { backends, certificates, fingerprint } = context
  return { ...reading(context, calling), backends, certificates, fingerprint }
}

function listing({ clusterId }: ClusterContext, calling: Calling): ListContext {
  return { ...calling, clusterId }
}

function ofService({ identity, fence, options }: ServiceContext, calling: Calling) {
  return { ...calling, clusterId: identity.clusterId, identity, fence, options }
}

function makingService(context: ServiceMakingContext, calling: Calling) {
  const { sourceRanges, healthCheck, fingerprint } = context
  return { ...ofService(context, calling), sourceRanges, healthCheck: healthCheck ?? undefined, fingerprint }
}

function recordAnswer(record: BalancerRecord | undefined): { record: BalancerRecord | null } {
  return { record: record === undefined ? null : shownRecord(record) }
}

/** Fields of its own that a provider leaves in its records stay here. */
function shownRecord({ status, fingerprint }: BalancerRecord): BalancerRecord {
  return { ...(status && { status }), ...(fingerprint !== undefined && { fingerprint }) }
}

function resultAnswer({ status, changed }: Pick<AnswerOf<'load-balancer/ensure'>['result'], 'status' | 'changed'>) {
  return { result: { ...(status && { status }), ...(changed !== undefined && { changed }) } }
}

function serviceResultAnswer(answer: Awaited<ReturnType<CloudLoadBalancer['ensureLoadBalancer']>>) {
  const { warnings, ...rest } = answer ?? {}
  return { result: { ...resultAnswer(rest).result, ...(warnings && { warnings: warnings.map(withShownMessage) }) } }
}

/** A message that is too long must not cost the answer. */
function withShownMessage<T extends { message: string }>(said: T): T {
  return { ...said, message: cleanDetail(said.message) }
}

function balancersAnswer(all: readonly ListedBalancer[], request: { limit: number; continue?: string }) {
  const { entries, ...rest } = pageOf(all, identityKey, request)
  const balancers = entries.map(({ clusterId, kind, namespace, name, uid, record }) => ({
    clusterId,
    kind,
    namespace,
    name,
    uid,
    ...(record && { record: shownRecord(record) }),
  }))
  return { balancers, ...rest }
}

function identityKey({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return [clusterId, kind, namespace, name, uid].join('/')
}

function routeKey({ destinationCIDR, targetNode, name = '' }: Route): string {
  return [destinationCIDR, targetNode, name].join(' ')
}
