import type { LoadBalancerStatus } from '../../src/domain/load-balancer-status.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import { RetryAfter } from '../../src/provider/errors.ts'
import type {
  BalancerIdentity,
  BalancerRecord,
  BalancerResult,
  MultiClusterProvider,
  ProviderContext,
} from '../../src/provider/multicluster.ts'
import type { CallToDecide, Decisions } from './decisions.ts'
import type { Exchanges } from './exchanges.ts'
import type { CloudFault, CloudSetting } from './history.ts'
import type { Journal } from './journal.ts'
import type { Scheduler } from './scheduler.ts'

export type Method = 'get' | 'ensure' | 'update' | 'ensureDeleted' | 'list'
type Served = MultiClusterIngress | MultiClusterService

export interface SimBalancer {
  id: number
  identity: BalancerIdentity
  address: string
  fingerprint: string
  readyAt: number
  flapUntil: number
  /** A deletion may take one call each. */
  parts: number
  /** What it was last told to serve. */
  spec: unknown
  annotations: Readonly<Record<string, string>>
  addresses: string[]
  /** Made when the process that asked for it was dead. */
  isOfTheDead: boolean
}

/** Of one caller: how it sees the cloud. */
export interface CloudClient {
  id: string
  onCall(method: Method, context: ProviderContext, isGone: boolean): void
  onAnswer(method: Method, context: ProviderContext): void
  onFault(): void
  /** It lives. */
  isWaiting(): boolean
}

export interface SimCloud {
  balancers(): readonly SimBalancer[]
  /** Grows with every change; a call that changes nothing is none. */
  version(): number
  /** How many were made for this uid, one after the other. */
  madeFor(uid: string): number
  statusOf(balancer: SimBalancer): LoadBalancerStatus | undefined
  providerFor(client: CloudClient): MultiClusterProvider
  /** One that was there before the history begins. */
  put(identity: BalancerIdentity): void
}

export interface CloudParts {
  setting: CloudSetting
  scheduler: Scheduler
  decisions: Decisions
  journal: Journal
  countCall: (label: string) => string
  exchanges: Exchanges
}

const WHAT: Record<Method, CallToDecide['what']> = {
  get: 'look',
  list: 'look',
  ensure: 'create',
  update: 'create',
  ensureDeleted: 'delete',
}

/**
 * A cloud that keeps the contract and is as unpleasant as it allows: calls arrive, act and are answered in steps of their
 * own; it may act after its caller has given up, within the window that it states.
 */
export function createSimCloud(parts: CloudParts): SimCloud {
  const { setting, scheduler, decisions, journal, countCall, exchanges } = parts
  const balancers: SimBalancer[] = []
  let ids = 0
  const made = new Map<string, number>()
  let version = 0
  let asked = 0

  const find = (identity: BalancerIdentity) =>
    balancers.find((one) => formatIdentity(one.identity) === formatIdentity(identity))

  function make(identity: BalancerIdentity, isOfTheDead: boolean): SimBalancer {
    ids += 1
    made.set(identity.uid, (made.get(identity.uid) ?? 0) + 1)
    const now = scheduler.now()
    const balancer: SimBalancer = {
      id: ids,
      identity: { ...identity },
      address: `192.0.2.${((ids - 1) % 250) + 1}`,
      fingerprint: '',
      readyAt: now + setting.delayMs,
      flapUntil: now + setting.flapMs,
      parts: 2,
      spec: undefined,
      annotations: {},
      addresses: [],
      isOfTheDead,
    }
    balancers.push(balancer)
    return balancer
  }

  function configure(balancer: SimBalancer, object: Served, context: ProviderContext): void {
    if (balancer.fingerprint !== context.fingerprint || balancer.parts < 2) version += 1
    balancer.fingerprint = context.fingerprint
    balancer.spec = object.spec
    balancer.annotations = object.metadata.annotations ?? {}
    balancer.addresses = addressesOf(context)
    balancer.parts = 2
  }

  /** While it settles it says one thing and then another. */
  function recordOf(balancer: SimBalancer): BalancerRecord {
    if (balancer.readyAt > scheduler.now()) return {}
    const { fingerprint } = balancer
    return { status: statusOf(balancer), ...(fingerprint === '' ? {} : { fingerprint }) }
  }

  function statusOf({ address, flapUntil }: SimBalancer): LoadBalancerStatus {
    asked += 1
    const shown = scheduler.now() < flapUntil && asked % 2 === 0 ? '198.51.100.1' : address
    return { ingress: [{ ip: shown }] }
  }

  function readyStatus(balancer: SimBalancer): LoadBalancerStatus {
    const rest = balancer.readyAt - scheduler.now()
    if (rest > 0) throw new RetryAfter(rest, 'it has no address yet')
    return statusOf(balancer)
  }

  function remove(identity: BalancerIdentity, fault: CloudFault | undefined): void {
    const balancer = find(identity)
    if (balancer === undefined) return
    version += 1
    balancer.parts = fault?.cloud === 'partial' ? balancer.parts - 1 : 0
    balancer.fingerprint = ''
    if (balancer.parts > 0) throw new RetryAfter(500, 'a part of it is left')
    balancers.splice(balancers.indexOf(balancer), 1)
  }

  function call<T>(
    client: CloudClient,
    method: Method,
    context: Pick<ProviderContext, 'signal'> & Partial<ProviderContext>,
    action: (fault: CloudFault | undefined, isOfTheDead: boolean) => T,
  ): Promise<T> {
    const { signal, identity } = context
    const id = countCall(
      `${client.id} cloud ${method}${identity === undefined ? '' : ` ${identity.kind} ${identity.name}`}`,
    )
    if (signal.aborted) return Promise.reject(signal.reason)
    const fault = decisions.cloud({ id, what: WHAT[method] })
    if (fault !== undefined) {
      journal.fault(id, fault)
      client.onFault()
    }
    const delayMs = fault !== undefined && 'ms' in fault && fault.cloud !== 'retryAfter' ? fault.ms : 0
    return exchanges.send<T>({
      label: id,
      sender: client.id,
      signal,
      delayMs: fault?.cloud === 'lostBefore' ? undefined : setting.latencyMs + delayMs,
      // What has not been done yet is not done any more, unless the cloud is late.
      isUnstoppable: fault?.cloud === 'late',
      timeout: undefined,
      onAbort: () => signal.reason,
      arrive(reply) {
        if (fault?.cloud === 'failed') return reply.reject(new Error('the cloud failed'))
        if (fault?.cloud === 'retryAfter') return reply.reject(new RetryAfter(fault.ms))
        const lost = fault?.cloud === 'lostAfter'
        try {
          const value = action(fault, !client.isWaiting())
          if (fault?.cloud === 'failedAfter') reply.reject(new Error('the connection was reset'))
          else if (!lost) reply.resolve(value)
        } catch (error) {
          if (!lost) reply.reject(error)
        }
      },
    })
  }

  function providerFor(client: CloudClient): MultiClusterProvider {
    const told = <T>(
      method: Method,
      context: ProviderContext,
      isGone: boolean,
      result: () => Promise<T>,
    ): Promise<T> => {
      if (!context.signal.aborted) client.onCall(method, context, isGone)
      return result().then((value) => {
        client.onAnswer(method, context)
        return value
      })
    }
    const get = (context: ProviderContext): Promise<BalancerRecord | undefined> =>
      call(client, 'get', context, () => {
        const balancer = find(context.identity)
        return balancer && recordOf(balancer)
      })
    const ensure = (object: Served, context: ProviderContext): Promise<BalancerResult> =>
      told('ensure', context, false, () =>
        call(client, 'ensure', context, (_fault, isOfTheDead) => {
          const balancer = find(context.identity) ?? make(context.identity, isOfTheDead)
          configure(balancer, object, context)
          return { status: readyStatus(balancer), changed: true }
        }),
      )
    const update = (object: Served, context: ProviderContext): Promise<BalancerResult> =>
      told('update', context, false, () =>
        call(client, 'update', context, () => {
          const balancer = find(context.identity)
          if (balancer === undefined) throw new Error('there is no such balancer')
          const changed = balancer.fingerprint !== context.fingerprint
          configure(balancer, object, context)
          return { status: readyStatus(balancer), changed }
        }),
      )
    const ensureDeleted = (object: Served | undefined, context: ProviderContext): Promise<void> =>
      told('ensureDeleted', context, object === undefined, () =>
        call(client, 'ensureDeleted', context, (fault) => remove(context.identity, fault)),
      )
    const list = (context: { signal: AbortSignal }) =>
      call(client, 'list', context, () =>
        balancers.map((balancer) => ({ ...balancer.identity, record: recordOf(balancer) })),
      )
    return {
      name: 'fake',
      ...(setting.windowMs === 0 ? {} : { consistencyWindowMs: setting.windowMs }),
      loadBalancer: {
        getLoadBalancer: (_ingress, context) => get(context),
        ensureLoadBalancer: ensure,
        updateLoadBalancer: update,
        ensureLoadBalancerDeleted: ensureDeleted,
        ...(setting.lists && { listLoadBalancers: list }),
      },
      mcsLoadBalancer: {
        getMCSLoadBalancer: (_service, context) => get(context),
        ensureMCSLoadBalancer: ensure,
        updateMCSLoadBalancer: update,
        ensureMCSLoadBalancerDeleted: ensureDeleted,
        ...(setting.lists && { listMCSLoadBalancers: list }),
      },
    }
  }

  return {
    balancers: () => balancers,
    version: () => version,
    madeFor: (uid) => made.get(uid) ?? 0,
    statusOf: (balancer) => (balancer.readyAt > scheduler.now() ? undefined : { ingress: [{ ip: balancer.address }] }),
    providerFor,
    put(identity) {
      const balancer = make(identity, false)
      balancer.readyAt = 0
      balancer.flapUntil = 0
    },
  }
}

function addressesOf({ backends }: ProviderContext): string[] {
  const addresses = backends.services.flatMap(({ ports }) =>
    ports.flatMap(({ pools }) =>
      pools.flatMap(({ state, endpoints }) => (state === 'serving' ? endpoints.map(({ address }) => address) : [])),
    ),
  )
  return [...new Set(addresses)].sort()
}

export function formatIdentity({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return [clusterId, kind, namespace, name, uid].join('/')
}
