import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import type { LoadBalancerStatus } from '../../src/domain/load-balancer-status.ts'
import type {
  BalancerIdentity,
  LoadBalancer,
  MCSLoadBalancer,
  MultiClusterProvider,
  ProviderContext,
} from '../../src/provider/multicluster.ts'
import type { FakeCall } from '../../src/providers/fake/fake-cloud.ts'

/** One call to a provider, as it was made. */
export interface ProviderCall {
  method: FakeCall['method']
  /** Undefined for an object that is gone. */
  object: KubernetesObject | undefined
  context: ProviderContext
}

/** Sees every call, and may answer in the provider's place. */
export type Around = (call: ProviderCall, next: () => Promise<unknown>) => Promise<unknown>

export function aroundProvider(provider: MultiClusterProvider, around: Around): MultiClusterProvider {
  const { loadBalancer, mcsLoadBalancer } = provider
  return {
    ...provider,
    ...(loadBalancer && { loadBalancer: aroundIngresses(loadBalancer, around) }),
    ...(mcsLoadBalancer && { mcsLoadBalancer: aroundServices(mcsLoadBalancer, around) }),
  }
}

type Call<T, R> = (object: T, context: ProviderContext) => Promise<R>

function wrap<T, R>(method: ProviderCall['method'], call: Call<T, R>, around: Around): Call<T, R> {
  return (object, context) => {
    const subject = object as KubernetesObject | undefined
    return around({ method, object: subject, context }, () => call(object, context)) as Promise<R>
  }
}

function aroundIngresses(inner: LoadBalancer, around: Around): LoadBalancer {
  return {
    ...inner,
    getLoadBalancer: wrap('get', (object, context) => inner.getLoadBalancer(object, context), around),
    ensureLoadBalancer: wrap('ensure', (object, context) => inner.ensureLoadBalancer(object, context), around),
    updateLoadBalancer: wrap('update', (object, context) => inner.updateLoadBalancer(object, context), around),
    ensureLoadBalancerDeleted: wrap(
      'ensureDeleted',
      (object, context) => inner.ensureLoadBalancerDeleted(object, context),
      around,
    ),
  }
}

function aroundServices(inner: MCSLoadBalancer, around: Around): MCSLoadBalancer {
  return {
    ...inner,
    getMCSLoadBalancer: wrap('get', (object, context) => inner.getMCSLoadBalancer(object, context), around),
    ensureMCSLoadBalancer: wrap('ensure', (object, context) => inner.ensureMCSLoadBalancer(object, context), around),
    updateMCSLoadBalancer: wrap('update', (object, context) => inner.updateMCSLoadBalancer(object, context), around),
    ensureMCSLoadBalancerDeleted: wrap(
      'ensureDeleted',
      (object, context) => inner.ensureMCSLoadBalancerDeleted(object, context),
      around,
    ),
  }
}

/** A balancer that is in the cloud before the story begins. */
export interface GivenBalancer {
  identity: BalancerIdentity
  status: LoadBalancerStatus
  fingerprint?: string
}

/** Answers for the balancers that are given, and keeps what they are changed to; all other calls go on to the cloud. */
export function givenBalancers(balancers: GivenBalancer[]): Around {
  return async ({ method, context }, next) => {
    const answer = await next()
    const index = balancers.findIndex(({ identity }) => sameIdentity(identity, context.identity))
    const given = balancers[index]
    if (given === undefined) return answer
    const { status, fingerprint } = given
    if (method === 'get') return { status, ...(fingerprint === undefined ? {} : { fingerprint }) }
    if (method === 'ensureDeleted') {
      balancers.splice(index, 1)
      return answer
    }
    given.fingerprint = context.fingerprint
    // What it was made from is not known at first; the provider finds it as it should be.
    return { status, changed: fingerprint !== undefined && fingerprint !== context.fingerprint }
  }
}

export function sameIdentity(a: BalancerIdentity, b: BalancerIdentity): boolean {
  return (['clusterId', 'kind', 'namespace', 'name', 'uid'] as const).every((field) => a[field] === b[field])
}
