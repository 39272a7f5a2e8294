import { canonicalJson } from '../../domain/canonical-json.ts'
import type { Node } from '../../domain/node.ts'
import type { Service } from '../../domain/service.ts'
import { defaultLoadBalancerName } from '../../domain/service-balancer/default-load-balancer-name.ts'
import type { Clock } from '../../ports/clock.ts'
import type { BalancerSupport, CloudLoadBalancer, EnsureContext } from '../../provider/cloud.ts'
import { RetryAfter } from '../../provider/errors.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import type { FakeCallLog } from './fake-call-log.ts'

/** A balancer as the cloud keeps it; `made` may be changed by hand, and is then seen to differ from the fingerprint. */
export interface FakeServiceBalancer {
  identity: BalancerIdentity
  name: string
  address: string
  /** When its address is known, in milliseconds since the epoch. */
  readyAt: number
  made: FakeListeners
}

export interface FakeListeners {
  /** `TCP 80 → 30080`. */
  ports: string[]
  /** `n1=fake://i-1`. */
  hosts: string[]
  sourceRanges: string[]
  /** `http://:32000/healthz`. */
  healthCheck?: string
  proxyProtocol: boolean
}

export interface FakeServiceBalancers {
  loadBalancer: CloudLoadBalancer
  all(): FakeServiceBalancer[]
  find(namespace: string, name: string): FakeServiceBalancer | undefined
  /** By hand, in the cloud's console. */
  remove(balancer: FakeServiceBalancer): void
}

interface BalancerOptions {
  log: FakeCallLog
  clock: Clock
  /** From the create until a balancer has its address. */
  delayMs: number
  supports: BalancerSupport
}

/** Balancers of Services: by identity, with addresses from 192.0.2.10 on. */
export function createFakeServiceBalancers({ log, clock, delayMs, supports }: BalancerOptions): FakeServiceBalancers {
  const balancers = new Map<string, FakeServiceBalancer>()
  const finished = new Map<FakeServiceBalancer, { fingerprint: string; made: string }>()
  let addresses = 9

  function create(identity: BalancerIdentity, service: Service): FakeServiceBalancer {
    addresses += 1
    const balancer: FakeServiceBalancer = {
      identity: { ...identity },
      name: defaultLoadBalancerName(service),
      address: `192.0.2.${addresses}`,
      readyAt: clock.now() + delayMs,
      made: { ports: [], hosts: [], sourceRanges: [], proxyProtocol: false },
    }
    balancers.set(formatIdentity(identity), balancer)
    return balancer
  }

  function ensure(service: Service, nodes: readonly Node[], context: EnsureContext) {
    const balancer = balancers.get(formatIdentity(context.identity)) ?? create(context.identity, service)
    return finish(balancer, listeners(service, nodes, context), context)
  }

  function finish(balancer: FakeServiceBalancer, made: FakeListeners, { fingerprint }: EnsureContext) {
    const changed = canonicalJson(balancer.made) !== canonicalJson(made) || !finished.has(balancer)
    balancer.made = made
    finished.set(balancer, { fingerprint, made: canonicalJson(made) })
    return { status: statusOf(balancer), changed }
  }

  function statusOf({ address, readyAt, made }: FakeServiceBalancer) {
    const remaining = readyAt - clock.now()
    if (remaining > 0) throw new RetryAfter(remaining, 'the fake balancer has no address yet')
    return { ingress: [{ ip: address, ...(made.proxyProtocol && { ipMode: 'Proxy' as const }) }] }
  }

  const about = ({ namespace = '', name }: BalancerIdentity) => `${namespace}/${name}`
  const hostNames = (nodes: readonly Node[]) => nodes.map(({ metadata }) => metadata.name)

  return {
    all: () => [...balancers.values()],
    find: (namespace, name) =>
      [...balancers.values()].find(({ identity }) => identity.namespace === namespace && identity.name === name),
    remove: ({ identity }) => void balancers.delete(formatIdentity(identity)),
    loadBalancer: {
      supports,
      getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
      getLoadBalancer: (_cluster, _service, context) =>
        log.act({ method: 'getLoadBalancer', about: about(context.identity) }, context, () => {
          const balancer = balancers.get(formatIdentity(context.identity))
          if (balancer === undefined) return undefined
          // Until it has an address its creation is not finished, so it states no fingerprint.
          if (balancer.readyAt > clock.now()) return {}
          const last = finished.get(balancer)
          const isAsMade = last?.made === canonicalJson(balancer.made)
          return {
            status: statusOf(balancer),
            ...(last !== undefined && isAsMade && { fingerprint: last.fingerprint }),
          }
        }),
      ensureLoadBalancer: (_cluster, service, nodes, context) =>
        log.act(
          { method: 'ensureLoadBalancer', about: about(context.identity), hosts: hostNames(nodes) },
          context,
          () => ensure(service, nodes, context),
        ),
      updateLoadBalancer: (_cluster, service, nodes, context) =>
        log.act(
          { method: 'updateLoadBalancer', about: about(context.identity), hosts: hostNames(nodes) },
          context,
          () => {
            const balancer = balancers.get(formatIdentity(context.identity))
            if (balancer === undefined) return ensure(service, nodes, context)
            return finish(balancer, { ...balancer.made, hosts: nodes.map(hostOf) }, context)
          },
        ),
      ensureLoadBalancerDeleted: (_cluster, _service, context) =>
        log.act({ method: 'ensureLoadBalancerDeleted', about: about(context.identity) }, context, () => {
          balancers.delete(formatIdentity(context.identity))
        }),
      listLoadBalancers: (cluster, context) =>
        log.act({ method: 'listLoadBalancers', about: cluster }, context, () =>
          [...balancers.values()]
            .map(({ identity }) => ({ ...identity }))
            .filter(({ clusterId }) => clusterId === context.clusterId),
        ),
    },
  }
}

function listeners(
  { spec }: Service,
  nodes: readonly Node[],
  { sourceRanges, healthCheck, options }: EnsureContext,
): FakeListeners {
  return {
    // Port 0 is none (R-SVC-11).
    ports: (spec?.ports ?? [])
      .filter(({ nodePort = 0 }) => nodePort > 0)
      .map(({ protocol = 'TCP', port, nodePort }) => `${protocol} ${port} → ${nodePort}`),
    hosts: nodes.map(hostOf),
    sourceRanges: [...sourceRanges],
    ...(healthCheck && { healthCheck: `${healthCheck.protocol}://:${healthCheck.port}${healthCheck.path}` }),
    proxyProtocol: options.proxyProtocol === 'v1' || options.proxyProtocol === 'v2',
  }
}

function hostOf({ metadata, spec }: Node): string {
  return `${metadata.name}=${spec?.providerID ?? ''}`
}

function formatIdentity({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return [clusterId, kind, namespace, name, uid].join('/')
}
