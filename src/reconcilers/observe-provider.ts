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
  const observed: Partial<Provider> = {
    ...(loadBalancer && { loadBalancer: observeCapability(loadBalancer, observer) }),
    ...(mcsLoadBalancer && { mcsLoadBalancer: observeCapability(mcsLoadBalancer, observer) }),
    ...(cloudProvider && { cloudProvider: observeCloud(cloudProvider, observer) }),
  }
  return overlay(provider, (name, value) => (Object.hasOwn(observed, name) ? Reflect.get(observed, name) : value))
}

const CAPABILITIES = ['loadBalancer', 'instances', 'instancesV2', 'zones', 'routes']

function observeCloud(cloud: CloudProvider, observer: Observer): CloudProvider {
  return overlay(cloud, (name, value) => {
    if (!CAPABILITIES.includes(name) || typeof value !== 'function') return value
    return () => {
      const capability: object | undefined = value()
      return capability && observeCapability(capability, observer)
    }
  })
}

function observeCapability<C extends object>(capability: C, observer: Observer): C {
  return overlay(capability, (name, value) => {
    if (!CALLS.includes(name) || typeof value !== 'function') return value
    return (...args: unknown[]) => {
      // The context is the last argument of every call.
      const { signal } = (args.at(-1) ?? {}) as { signal?: AbortSignal }
      return observeCall(name, signal, async () => value(...args), observer)
    }
  })
}

/**
 * Another view of an object that may be frozen, of a class with private fields, or changed later: each property as
 * `view` shows it. `this` of its methods stays what it was.
 */
function overlay<T extends object>(target: T, view: (name: string, value: unknown) => unknown): T {
  return new Proxy({} as T, {
    has: (_, name) => name in target,
    get(_, name) {
      const value: unknown = Reflect.get(target, name)
      const bound = typeof value === 'function' ? value.bind(target) : value
      return typeof name === 'string' ? view(name, bound) : bound
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
