import type { CloudLoadBalancer, CloudProvider } from '../cloud.ts'
import type { BackendSupport } from '../multicluster.ts'
import type { Provider } from '../provider.ts'
import type { DescribedCloud, Description, ServedBalancer, ServedServiceBalancer, Serves } from './operations.ts'

/** What a provider says of itself, for whoever calls it over HTTP. */
export function describeProvider(provider: Provider): Description {
  const { name, consistencyWindowMs, cloudProvider } = provider
  return {
    name,
    serves: servesOf(provider),
    ...(consistencyWindowMs !== undefined && { consistencyWindowMs }),
    ...(cloudProvider && { cloud: describeCloud(cloudProvider) }),
  }
}

function servesOf({ loadBalancer, mcsLoadBalancer, cloudProvider }: Provider): Serves {
  const ofServices = cloudProvider?.loadBalancer()
  const hasInstances = (cloudProvider?.instancesV2?.() ?? cloudProvider?.instances()) !== undefined
  return {
    ...(loadBalancer && {
      MultiClusterIngress: servedBalancer(loadBalancer.listLoadBalancers !== undefined, loadBalancer.supports),
    }),
    ...(mcsLoadBalancer && {
      MultiClusterService: servedBalancer(mcsLoadBalancer.listMCSLoadBalancers !== undefined, mcsLoadBalancer.supports),
    }),
    ...(ofServices && { Service: servedServiceBalancer(ofServices) }),
    ...(hasInstances && { instances: {} }),
    ...(cloudProvider?.routes() && { routes: {} }),
  }
}

function servedBalancer(list: boolean, supports: BackendSupport = {}): ServedBalancer {
  const { resourceBackends = false, externalName = false } = supports
  return { list, resourceBackends, externalName }
}

function servedServiceBalancer(balancer: CloudLoadBalancer): ServedServiceBalancer {
  const { listLoadBalancers, supports = {}, consistencyWindowMs } = balancer
  const { protocols = ['TCP'], sourceRanges = false, target = 'instance' } = supports
  return {
    list: listLoadBalancers !== undefined,
    protocols: [...protocols],
    sourceRanges,
    target,
    ...(consistencyWindowMs !== undefined && { consistencyWindowMs }),
  }
}

function describeCloud(cloud: CloudProvider): DescribedCloud {
  return { providerName: cloud.providerName(), hasClusterID: cloud.hasClusterID() }
}
