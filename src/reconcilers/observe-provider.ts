import type { Clock } from '../ports/clock.ts'
import type { Metrics } from '../ports/metrics.ts'
import type { Span, Tracer } from '../ports/tracer.ts'
import type { CloudProvider } from '../provider/cloud.ts'
import type { Provider } from '../provider/provider.ts'
import { codeOfProviderError } from './provider-call.ts'
import { PROVIDER_METRICS } from './provider-metrics.ts'

export interface Observer {
  metrics: Metrics
  tracer: Tracer
  clock: Clock
}

/** What is asked of a cloud. A name that is not here is not measured: it asks nobody, or is asked by nobody. */
const CALLS = [
  'getLoadBalancer',
  'ensureLoadBalancer',
  'updateLoadBalancer',
  'ensureLoadBalancerDeleted',
  'listLoadBalancers',
  'getMCSLoadBalancer',
  'ensureMCSLoadBalancer',
  'updateMCSLoadBalancer',
  'ensureMCSLoadBalancerDeleted',
  'listMCSLoadBalancers',
  'instanceExists',
  'instanceShutdown',
  'instanceMetadata',
  'nodeAddresses',
  'nodeAddressesByProviderID',
  'instanceID',
  'instanceType',
  'instanceTypeByProviderID',
  'instanceExistsByProviderID',
  'instanceShutdownByProviderID',
  'getZone',
  'getZoneByProviderID',
  'getZoneByNodeName',
  'listRoutes',
  'createRoute',
  'deleteRoute',
]

/** The same provider; every call into it is counted, timed and traced, under the name of its method. */
export function observeProvider(provider: Provider, observer: Observer): Provider {
  const { loadBalancer, mcsLoadBalancer, cloudProvider } = provider
  return overlay(provider, {
    ...(loadBalancer && { loadBalancer: observeCapability(loadBalancer, observer) }),
    ...(mcsLoadBalancer && { mcsLoadBalancer: observeCapability(mcsLoadBalancer, observer) }),
    ...(cloudProvider && { cloudProvider: observeCloud(cloudProvider, observer) }),
  })
}

function observeCloud(cloud: CloudProvider, observer: Observer): CloudProvider {
  const observed = <C extends object>(capability: C | undefined) =>
    capability && observeCapability(capability, observer)
  return overlay(cloud, {
    loadBalancer: () => observed(cloud.loadBalancer()),
    instances: () => observed(cloud.instances()),
    ...(cloud.instancesV2 && { instancesV2: () => observed(cloud.instancesV2?.()) }),
    zones: () => observed(cloud.zones()),
    routes: () => observed(cloud.routes()),
  })
}

type Call = (...args: unknown[]) => Promise<unknown>

function observeCapability<C extends object>(capability: C, observer: Observer): C {
  const calls = CALLS.filter((method) => method in capability).map((method): [string, Call] => {
    const call = Reflect.get(capability, method) as Call | undefined
    const observed: Call = (...args) => {
      // The context is the last argument of every call.
      const { signal } = (args.at(-1) ?? {}) as { signal?: AbortSignal }
      return observeCall(method, signal, () => Reflect.apply(call as Call, capability, args), observer)
    }
    return [method, call && observed] as [string, Call]
  })
  return overlay(capability, Object.fromEntries(calls) as Partial<C>)
}

/** An object that may be frozen, or of a class with private fields, with some properties replaced; `this` stays what it was. */
function overlay<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy({} as T, {
    has: (_, name) => name in target,
    get(_, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function observeCall(
  method: string,
  signal: AbortSignal | undefined,
  call: () => Promise<unknown>,
  { metrics, tracer, clock }: Observer,
): Promise<unknown> {
  const started = clock.now()
  let isTold = false
  const tell = (span: Span, code: string) => {
    if (isTold) return
    isTold = true
    metrics.count(PROVIDER_METRICS.calls.name, { method, code })
    metrics.observe(PROVIDER_METRICS.duration.name, (clock.now() - started) / 1_000, { method })
    span.set({ code })
    if (code !== 'OK' && code !== 'ProviderRetryAfter') span.fail(code)
  }
  return tracer.step({ name: `provider ${method}`, kind: 'client' }, async (span) => {
    // Whoever asked gives up then, whether or not the provider does.
    const onAbort = () => tell(span, 'ProviderTimeout')
    signal?.addEventListener('abort', onAbort, { once: true })
    try {
      const answer = await call()
      tell(span, 'OK')
      return answer
    } catch (error) {
      tell(span, codeOfProviderError(error))
      throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
    }
  })
}
