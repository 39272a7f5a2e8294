import type { Node } from '../../domain/node.ts'
import { defaultLoadBalancerName } from '../../domain/service-balancer/default-load-balancer-name.ts'
import type {
  BalancerContext,
  CloudBalancerResult,
  CloudContext,
  CloudLoadBalancer,
  CloudProvider,
  EnsureContext,
  InstancesV2,
  Routes,
} from '../../provider/cloud.ts'
import type { BalancerIdentity, LoadBalancer, MCSLoadBalancer, ProviderContext } from '../../provider/multicluster.ts'
import type { DescribedCloud } from '../../provider/protocol/operations.ts'
import { cleanDetail } from '../../provider/protocol/problem.ts'
import type { ProtocolValidator } from '../../provider/protocol/protocol-validator.ts'
import type { Provider } from '../../provider/provider.ts'
import type { ProviderFactory } from '../../provider/registry.ts'
import { completeBalancer, completeServiceBalancer, type HttpOptions, parseHttpOptions } from './http-options.ts'
import { createProviderClient, type ProviderClient } from './provider-client.ts'

/** `provider: { name: http, options: { url: …, tokenFile: …, serves: … } }`: a provider that runs somewhere else. */
export function httpProviderFactory(validate: ProtocolValidator): ProviderFactory {
  return (setup) => {
    const options = parseHttpOptions(setup, validate)
    return createHttpProvider(options, createProviderClient(options, validate, setup.clock))
  }
}

/**
 * Every call is one request. There is no `validate`: it must answer at once and without a call, which a provider elsewhere
 * cannot.
 */
export function createHttpProvider(options: HttpOptions, client: ProviderClient): Provider {
  const { serves, consistencyWindowMs, cloud } = options
  return {
    name: 'http',
    ...(consistencyWindowMs !== undefined && { consistencyWindowMs }),
    ...(serves.MultiClusterIngress && { loadBalancer: ingressBalancer(options, client) }),
    ...(serves.MultiClusterService && { mcsLoadBalancer: serviceBalancer(options, client) }),
    ...(cloud && { cloudProvider: cloudOf(options, cloud, client) }),
  }
}

function ingressBalancer({ serves }: HttpOptions, client: ProviderClient): LoadBalancer {
  const { list, ...supports } = completeBalancer(serves.MultiClusterIngress ?? {})
  return {
    supports,
    async getLoadBalancer(object, context) {
      const { record } = await client.call('load-balancer/get', { object, context: reading(context) }, context.signal)
      return record ?? undefined
    },
    async ensureLoadBalancer(object, context) {
      return (await client.call('load-balancer/ensure', { object, context: making(context) }, context.signal)).result
    },
    async updateLoadBalancer(object, context) {
      return (await client.call('load-balancer/update', { object, context: making(context) }, context.signal)).result
    },
    async ensureLoadBalancerDeleted(object, context) {
      const request = { object: object ?? null, context: reading(context) }
      await client.call('load-balancer/delete', request, context.signal)
    },
    ...(list && {
      listLoadBalancers: ({ clusterId, signal }) =>
        allPages(async (page) => {
          const request = { ...page, context: { clusterId } }
          const { balancers, ...rest } = await client.call('load-balancer/list', request, signal)
          return { entries: ofCluster(balancers, clusterId, 'MultiClusterIngress'), ...rest }
        }),
    }),
  }
}

function serviceBalancer({ serves }: HttpOptions, client: ProviderClient): MCSLoadBalancer {
  const { list, ...supports } = completeBalancer(serves.MultiClusterService ?? {})
  return {
    supports,
    async getMCSLoadBalancer(object, context) {
      const request = { object, context: reading(context) }
      return (await client.call('mcs-load-balancer/get', request, context.signal)).record ?? undefined
    },
    async ensureMCSLoadBalancer(object, context) {
      return (await client.call('mcs-load-balancer/ensure', { object, context: making(context) }, context.signal))
        .result
    },
    async updateMCSLoadBalancer(object, context) {
      return (await client.call('mcs-load-balancer/update', { object, context: making(context) }, context.signal))
        .result
    },
    async ensureMCSLoadBalancerDeleted(object, context) {
      const request = { object: object ?? null, context: reading(context) }
      await client.call('mcs-load-balancer/delete', request, context.signal)
    },
    ...(list && {
      listMCSLoadBalancers: ({ clusterId, signal }) =>
        allPages(async (page) => {
          const request = { ...page, context: { clusterId } }
          const { balancers, ...rest } = await client.call('mcs-load-balancer/list', request, signal)
          return { entries: ofCluster(balancers, clusterId, 'MultiClusterService'), ...rest }
        }),
    }),
  }
}

function cloudOf(options: HttpOptions, cloud: DescribedCloud, client: ProviderClient): CloudProvider {
  const { serves } = options
  const loadBalancer = serves.Service && cloudBalancer(options, client)
  const instances = serves.instances && instancesOf(client)
  const routes = serves.routes && routesOf(client)
  return {
    initialize: () => undefined,
    loadBalancer: () => loadBalancer,
    instances: () => undefined,
    instancesV2: () => instances,
    zones: () => undefined,
    clusters: () => undefined,
    routes: () => routes,
    providerName: () => cloud.providerName,
    hasClusterID: () => cloud.hasClusterID,
  }
}

function cloudBalancer({ serves }: HttpOptions, client: ProviderClient): CloudLoadBalancer {
  const { list, consistencyWindowMs, ...supports } = completeServiceBalancer(serves.Service ?? {})
  return {
    supports,
    consistencyWindowMs,
    getLoadBalancerName: (_clusterName, service) => defaultLoadBalancerName(service),
    async getLoadBalancer(clusterName, object, context) {
      const request = { clusterName, object, context: ofService(context) }
      return (await client.call('service-load-balancer/get', request, context.signal)).record ?? undefined
    },
    async ensureLoadBalancer(clusterName, object, nodes, context) {
      const request = { clusterName, object, nodes, context: makingService(context) }
      return shown((await client.call('service-load-balancer/ensure', request, context.signal)).result)
    },
    async updateLoadBalancer(clusterName, object, nodes, context) {
      const request = { clusterName, object, nodes, context: makingService(context) }
      return shown((await client.call('service-load-balancer/update', request, context.signal)).result)
    },
    async ensureLoadBalancerDeleted(clusterName, object, context) {
      const request = { clusterName, object: object ?? null, context: ofService(context) }
      await client.call('service-load-balancer/delete', request, context.signal)
    },
    ...(list && {
      listLoadBalancers: (clusterName, { clusterId, signal }) =>
        allPages(async (page) => {
          const request = { clusterName, ...page, context: { clusterId } }
          const { balancers, ...rest } = await client.call('service-load-balancer/list', request, signal)
          return { entries: ofCluster(balancers, clusterId, 'Service'), ...rest }
        }),
    }),
  }
}

function instancesOf(client: ProviderClient): InstancesV2 {
  const asking = (node: Node, { clusterId }: CloudContext) => ({ node, context: { clusterId } })
  return {
    async instanceExists(node, context) {
      return (await client.call('instances/exists', asking(node, context), context.signal)).exists
    },
    async instanceShutdown(node, context) {
      return (await client.call('instances/shutdown', asking(node, context), context.signal)).shutdown
    },
    async instanceMetadata(node, context) {
      return (await client.call('instances/metadata', asking(node, context), context.signal)).metadata ?? undefined
    },
  }
}

function routesOf(client: ProviderClient): Routes {
  return {
    listRoutes: (clusterName, { clusterId, signal }) =>
      allPages(async (page) => {
        const request = { clusterName, ...page, context: { clusterId } }
        const { routes, ...rest } = await client.call('routes/list', request, signal)
        return { entries: routes, ...rest }
      }),
    async createRoute(clusterName, nameHint, route, { clusterId, signal }) {
      await client.call('routes/create', { clusterName, nameHint, route, context: { clusterId } }, signal)
    },
    async deleteRoute(clusterName, route, { clusterId, signal }) {
      await client.call('routes/delete', { clusterName, route, context: { clusterId } }, signal)
    },
  }
}

function reading({ identity, fence }: Pick<ProviderContext, 'identity' | 'fence'>) {
  return { identity, fence }
}

function making(context: ProviderContext) {
  const { backends, certificates, fingerprint } = context
  return { ...reading(context), backends, certificates, fingerprint }
}

function ofService(context: BalancerContext) {
  return { ...reading(context), options: context.options }
}

function makingService(context: EnsureContext) {
  const { sourceRanges, healthCheck, fingerprint } = context
  return { ...ofService(context), sourceRanges, healthCheck: healthCheck ?? null, fingerprint }
}

/** Warnings become events. */
function shown({ warnings, ...result }: CloudBalancerResult): CloudBalancerResult {
  if (warnings === undefined) return result
  return { ...result, warnings: warnings.map(({ reason, message }) => ({ reason, message: cleanDetail(message) })) }
}

const PAGE = 500
// Half a million: more than any account has. What goes on longer does not end.
const MOST_PAGES = 1_000

async function allPages<T>(
  ask: (page: { limit: number; continue?: string }) => Promise<{ entries: T[]; continue?: string }>,
): Promise<T[]> {
  const all: T[] = []
  const seen = new Set<string>()
  for (let next: string | undefined; ; ) {
    const page = await ask({ limit: PAGE, ...(next !== undefined && { continue: next }) })
    all.push(...page.entries)
    next = page.continue
    if (next === undefined) return all
    if (seen.has(next) || seen.size >= MOST_PAGES) {
      throw new Error('the provider’s list does not end: its pages come back to where they began')
    }
    seen.add(next)
  }
}

/** What is listed may be deleted: an entry of another cluster or kind is not believed, nor is the rest of its list. */
function ofCluster<B extends BalancerIdentity>(balancers: B[], clusterId: string, kind: BalancerIdentity['kind']): B[] {
  const foreign = balancers.find((each) => each.clusterId !== clusterId || each.kind !== kind)
  if (foreign === undefined) return balancers
  throw new Error(
    `the provider lists ${foreign.kind} of cluster ${foreign.clusterId}, asked for ${kind} of ${clusterId}`,
  )
}
