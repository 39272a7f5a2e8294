import { canonicalJson } from '../../../src/domain/canonical-json.ts'
import type { CloudContext, CloudLoadBalancer, CloudProvider, Instances, Routes } from '../../../src/provider/cloud.ts'
import { RetryAfter } from '../../../src/provider/errors.ts'
import type { BalancerIdentity } from '../../../src/provider/multicluster.ts'
import { createFakeClusterCloud, type FakeClusterCloud } from '../../../src/providers/fake/fake-cluster-cloud.ts'
import type { CallToDecide, Decisions } from '../decisions.ts'
import type { Exchanges } from '../exchanges.ts'
import type { CloudFault } from '../history.ts'
import type { Journal } from '../journal.ts'
import type { Scheduler } from '../scheduler.ts'
import { formatIdentity, type Method } from '../sim-cloud.ts'
import type { ClusterCloudSetting } from './history.ts'

/** Of one caller: how it sees the cloud. */
export interface ClusterCloudClient {
  id: string
  onBalancerCall(method: Method, context: { identity: BalancerIdentity }, isGone: boolean): void
  onBalancerAnswer(method: Method, context: { identity: BalancerIdentity }, isAbsent: boolean): void
  onRouteCall(): void
  onFault(): void
  /** It lives. */
  isWaiting(): boolean
}

export interface SimClusterCloud extends FakeClusterCloud {
  providerFor(client: ClusterCloudClient): CloudProvider
  /** `isOfTheDead`: it was made when the process that asked for it was dead. */
  heldBalancers(): { identity: BalancerIdentity; isOfTheDead: boolean }[]
  /** Grows with whatever may have been a change. */
  version(): number
  /** A user was in its console. */
  touch(): void
  /** Everything in it that the function makes. */
  state(): string
}

export interface ClusterCloudParts {
  setting: ClusterCloudSetting
  scheduler: Scheduler
  decisions: Pick<Decisions, 'cloud'>
  journal: Journal
  countCall: (label: string) => string
  exchanges: Exchanges
}

interface Call {
  label: string
  what: CallToDecide['what']
}

/**
 * The fake cloud, as far away as a cloud is: calls arrive, act and are answered in steps of their own; it may act after
 * its caller has given up, within the window that it states.
 */
export function createSimClusterCloud(parts: ClusterCloudParts): SimClusterCloud {
  const { setting, scheduler, decisions, journal, countCall, exchanges } = parts
  const fake = createFakeClusterCloud({
    clock: scheduler.clockOf(undefined),
    delayMs: setting.delayMs,
    form: setting.form,
    supports: { protocols: ['TCP', 'UDP'], sourceRanges: true, target: setting.target },
  })
  const ofTheDead = new Set<string>()
  let version = 0
  const inner = fake.cloudProvider

  /** `act` does it at once, and answers in a promise. */
  function call<T, C extends CloudContext>(
    client: ClusterCloudClient,
    { label, what }: Call,
    context: C,
    act: (context: C, fault: CloudFault | undefined, isOfTheDead: boolean) => Promise<T>,
  ): Promise<T> {
    const { signal } = context
    const id = countCall(`${client.id} cloud ${label}`)
    if (signal.aborted) return Promise.reject(signal.reason)
    const fault = decisions.cloud({ id, what })
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
        if (what !== 'look') version += 1
        const isLost = fault?.cloud === 'lostAfter'
        act({ ...context, signal: NEVER }, fault, !client.isWaiting()).then(
          (value) => {
            if (fault?.cloud === 'failedAfter') reply.reject(new Error('the connection was reset'))
            else if (!isLost) reply.resolve(value)
          },
          (error) => {
            if (!isLost) reply.reject(error)
          },
        )
      },
    })
  }

  function balancersFor(client: ClusterCloudClient, honest: CloudLoadBalancer): CloudLoadBalancer {
    const known = (identity: BalancerIdentity) =>
      fake.balancers.all().find((part) => formatIdentity(part.identity) === formatIdentity(identity))

    const told = <T>(
      method: Method,
      context: { identity: BalancerIdentity; signal: AbortSignal },
      isGone: boolean,
      result: () => Promise<T>,
    ): Promise<T> => {
      if (!context.signal.aborted) client.onBalancerCall(method, context, isGone)
      return result().then((value) => {
        client.onBalancerAnswer(method, context, method === 'get' && value === undefined)
        return value
      })
    }
    const name = ({ identity }: { identity: BalancerIdentity }) => `Service ${identity.name}`
    return {
      ...honest,
      ...(setting.windowMs > 0 && { consistencyWindowMs: setting.windowMs }),
      getLoadBalancer: (cluster, service, context) =>
        told('get', context, false, () =>
          call(client, { label: `get ${name(context)}`, what: 'look' }, context, (inside) =>
            honest.getLoadBalancer(cluster, service, inside),
          ),
        ),
      ensureLoadBalancer: (cluster, service, nodes, context) =>
        told('ensure', context, false, () =>
          call(client, { label: `ensure ${name(context)}`, what: 'create' }, context, (inside, _fault, isOfTheDead) => {
            const isNew = known(context.identity) === undefined
            const answer = honest.ensureLoadBalancer(cluster, service, nodes, inside)
            if (isNew && isOfTheDead) ofTheDead.add(formatIdentity(context.identity))
            else if (isNew) ofTheDead.delete(formatIdentity(context.identity))
            return answer
          }),
        ),
      updateLoadBalancer: (cluster, service, nodes, context) =>
        told('update', context, false, () =>
          call(client, { label: `update ${name(context)}`, what: 'create' }, context, async (inside) => {
            if (known(context.identity) === undefined) throw new Error('there is no such balancer')
            return honest.updateLoadBalancer(cluster, service, nodes, inside)
          }),
        ),
      ensureLoadBalancerDeleted: (cluster, service, context) =>
        told('ensureDeleted', context, service === undefined, () =>
          call(client, { label: `delete ${name(context)}`, what: 'delete' }, context, async (inside, fault) => {
            const part = known(context.identity)
            if (fault?.cloud === 'partial' && part?.finished !== undefined) {
              part.finished = undefined
              throw new RetryAfter(500, 'a part of it is left')
            }
            return honest.ensureLoadBalancerDeleted(cluster, service, inside)
          }),
        ),
      ...(setting.lists
        ? {
            listLoadBalancers: (cluster, context) =>
              call(
                client,
                { label: 'list', what: 'look' },
                context,
                async (inside) => (await honest.listLoadBalancers?.(cluster, inside)) ?? [],
              ),
          }
        : { listLoadBalancers: undefined }),
    } as CloudLoadBalancer
  }

  function routesFor(client: ClusterCloudClient, honest: Routes): Routes {
    return {
      listRoutes: (cluster, context) =>
        call(client, { label: 'listRoutes', what: 'look' }, context, (inside) => honest.listRoutes(cluster, inside)),
      createRoute(cluster, hint, route, context) {
        if (!context.signal.aborted) client.onRouteCall()
        const label = `createRoute ${route.destinationCIDR}`
        return call(client, { label, what: 'create' }, context, (inside) =>
          honest.createRoute(cluster, hint, route, inside),
        )
      },
      deleteRoute(cluster, route, context) {
        if (!context.signal.aborted) client.onRouteCall()
        const label = `deleteRoute ${route.destinationCIDR}`
        return call(client, { label, what: 'delete' }, context, (inside) => honest.deleteRoute(cluster, route, inside))
      },
    }
  }

  /** Every question of an interface whose last argument is the context. */
  function asking<T extends object>(client: ClusterCloudClient, honest: T, labelOf: (first: never) => string): T {
    const entries = Object.entries(honest).map(([method, ask]) => [
      method,
      (...given: [never, ...unknown[], CloudContext]) => {
        const context = given.at(-1) as CloudContext
        const label = `${method} ${labelOf(given[0])}`
        return call(client, { label, what: 'look' }, context, async (inside, fault) => {
          if (fault?.cloud === 'unknown' && method === 'instanceMetadata') return undefined
          return ask(...given.slice(0, -1), inside)
        })
      },
    ])
    return Object.fromEntries(entries) as T
  }

  return {
    ...fake,
    providerFor(client) {
      const balancer = inner.loadBalancer()
      const routes = inner.routes()
      const older = inner.instances()
      const zones = inner.zones()
      const newer = inner.instancesV2?.()
      const byNode = ({ metadata }: { metadata: { name: string } }) => metadata.name
      const byText = (text: string) => text
      const own = {
        balancer: balancer && balancersFor(client, balancer),
        routes: routes && routesFor(client, routes),
        instances: older && asking<Instances>(client, older, byText),
        zones: zones && asking(client, zones, byText),
        newer: newer && asking(client, newer, byNode),
      }
      return {
        ...inner,
        loadBalancer: () => own.balancer,
        routes: () => own.routes,
        instances: () => own.instances,
        zones: () => own.zones,
        ...(own.newer && { instancesV2: () => own.newer }),
      }
    },
    heldBalancers: () =>
      fake.balancers.all().map(({ identity }) => ({ identity, isOfTheDead: ofTheDead.has(formatIdentity(identity)) })),
    version: () => version,
    touch() {
      version += 1
    },
    state: () =>
      canonicalJson([
        fake.balancers.all().map(({ identity, made, finished }) => [identity.uid, made, finished?.fingerprint]),
        fake.routes.all(),
      ]),
  }
}

const NEVER = new AbortController().signal
