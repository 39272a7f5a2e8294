import { canonicalJson } from '../../domain/canonical-json.ts'
import type { Finding } from '../../domain/finding.ts'
import type { Node } from '../../domain/node.ts'
import type { Service } from '../../domain/service.ts'
import { defaultLoadBalancerName } from '../../domain/service-balancer/default-load-balancer-name.ts'
import type { Clock } from '../../ports/clock.ts'
import type {
  BalancerSupport,
  BalancerWarning,
  CloudBalancerResult,
  CloudLoadBalancer,
  EnsureContext,
} from '../../provider/cloud.ts'
import { RetryAfter, Terminal } from '../../provider/errors.ts'
import type { BalancerIdentity, BalancerRecord } from '../../provider/multicluster.ts'
import {
  createFakeInventory,
  type FakeBalancerBody,
  type FakeServiceBalancer,
  formatIdentity,
} from './fake-balancer-inventory.ts'
import { type FakeListeners, fakeListeners, hostsOf } from './fake-balancer-listeners.ts'
import type { FakeCallLog } from './fake-call-log.ts'

export interface FakeServiceBalancers {
  loadBalancer: CloudLoadBalancer
  all(): FakeServiceBalancer[]
  find(namespace: string, name: string): FakeServiceBalancer | undefined
  /** By hand, in the cloud's console. */
  remove(balancer: FakeServiceBalancer): void
  /** Every balancer of the account, those that users made included. */
  bodies(): FakeBalancerBody[]
  bring(body: Partial<FakeBalancerBody>): FakeBalancerBody
  /** A user's own, by the user. */
  forget(body: FakeBalancerBody): void
}

interface FakeBalancersOptions {
  log: FakeCallLog
  clock: Clock
  /** From the create until a balancer has its address. */
  delayMs: number
  supports: BalancerSupport
}

/** An error of the cloud's API, with its status: 404 is no error for who reads or deletes. */
export class FakeApiError extends Error {
  readonly status: number

  constructor(status: number, message = `the cloud answered ${status}`) {
    super(message)
    this.status = status
  }
}

/** Balancers of Services: by identity, with addresses from 192.0.2.10 on. */
export function createFakeServiceBalancers({
  log,
  clock,
  delayMs,
  supports,
}: FakeBalancersOptions): FakeServiceBalancers {
  const inventory = createFakeInventory()
  const { target = 'instance' } = supports

  function ensure(service: Service, nodes: readonly Node[], context: EnsureContext): CloudBalancerResult {
    const known = inventory.part(context.identity)
    if (context.options.disown === true) return known === undefined ? {} : resultOf(known, false, [])
    const { listeners, warnings } = fakeListeners(service, nodes, context, target)
    const found = known === undefined ? takeBody(context) : { body: known.body, warnings: missingId(context) }
    refuseTakenPorts(found.body, listeners, context.identity)
    const part = known ?? addPart(found.body, service, context)
    refuseRebuild(part, context)
    part.retained = context.options.retainOnDelete === true
    return finish(part, listeners, context, [...found.warnings, ...warnings])
  }

  /** The balancer that a user names, one to share, or a new one. */
  function takeBody(context: EnsureContext): { body: FakeBalancerBody; warnings: BalancerWarning[] } {
    const { options } = context
    const named = options.id === undefined ? undefined : inventory.bodies.get(options.id)
    if (named !== undefined) return { body: named, warnings: [] }
    const shared = options.sharedId === undefined ? undefined : inventory.bodies.get(options.sharedId)
    if (shared !== undefined) return { body: shared, warnings: [] }
    const id = options.sharedId === undefined ? {} : { id: options.sharedId }
    return { body: inventory.makeBody({ ...id, readyAt: clock.now() + delayMs }), warnings: missingId(context) }
  }

  function missingId({ options: { id } }: EnsureContext): BalancerWarning[] {
    if (id === undefined || inventory.bodies.has(id)) return []
    const message = `the annotation names balancer ${id}, which does not exist; another one is used`
    return [{ reason: 'LoadBalancerMissing', message }]
  }

  function addPart(
    body: FakeBalancerBody,
    service: Service,
    { identity, options }: EnsureContext,
  ): FakeServiceBalancer {
    const part: FakeServiceBalancer = {
      identity: { ...identity },
      name: options.name ?? defaultLoadBalancerName(service),
      body,
      get address() {
        return this.body.address
      },
      made: { ports: [], hosts: [], sourceRanges: [], proxyProtocol: false, settings: [] },
      finished: undefined,
      internal: options.internal === true,
      retained: false,
    }
    inventory.parts.set(formatIdentity(identity), part)
    return part
  }

  function refuseTakenPorts(body: FakeBalancerBody, { ports }: FakeListeners, identity: BalancerIdentity): void {
    const others = inventory.partsOf(body).filter((part) => formatIdentity(part.identity) !== formatIdentity(identity))
    const taken = [...body.foreign.ports, ...others.flatMap(({ made }) => made.ports)].map(frontOf)
    const clash = ports.find((port) => taken.includes(frontOf(port)))
    if (clash !== undefined) throw new Terminal(`port ${frontOf(clash)} of balancer ${body.id} is taken by another`)
  }

  function finish(
    part: FakeServiceBalancer,
    made: FakeListeners,
    { fingerprint }: EnsureContext,
    warnings: BalancerWarning[],
  ): CloudBalancerResult {
    if (part.body.state === 'error') throw new Error(`balancer ${part.body.id} is in state ERROR`)
    const changed = canonicalJson(part.made) !== canonicalJson(made) || part.finished === undefined
    part.made = made
    part.finished = { fingerprint, made: canonicalJson(made) }
    return resultOf(part, changed, warnings)
  }

  function resultOf(part: FakeServiceBalancer, changed: boolean, warnings: BalancerWarning[]): CloudBalancerResult {
    const remaining = part.body.readyAt - clock.now()
    if (remaining > 0) throw new RetryAfter(remaining, 'the fake balancer has no address yet')
    return { status: { ingress: [{ ip: part.address }] }, changed, warnings }
  }

  /** Something of it is left; what differs from what was made last has no fingerprint. */
  function recordOf(part: FakeServiceBalancer | undefined): BalancerRecord | undefined {
    if (part === undefined) return undefined
    // Until it has an address its creation is not finished, so it states no fingerprint.
    if (part.body.readyAt > clock.now()) return {}
    const { finished, made, address } = part
    const isAsMade = finished?.made === canonicalJson(made)
    return {
      status: { ingress: [{ ip: address }] },
      ...(finished !== undefined && isAsMade && { fingerprint: finished.fingerprint }),
    }
  }

  const about = ({ namespace = '', name }: BalancerIdentity) => `${namespace}/${name}`
  const hostNames = (nodes: readonly Node[]) => nodes.map(({ metadata }) => metadata.name)

  return {
    all: () => [...inventory.parts.values()],
    find: (namespace, name) =>
      [...inventory.parts.values()].find(({ identity }) => identity.namespace === namespace && identity.name === name),
    remove: (part) => inventory.removePart(part),
    bodies: () => [...inventory.bodies.values()],
    bring: (body) => inventory.makeBody({ brought: true, ...body }),
    forget: ({ id }) => void inventory.bodies.delete(id),
    loadBalancer: {
      supports,
      validate: (_service, options) => (options.algorithm === 'source-ip' ? [NO_SOURCE_IP] : []),
      getLoadBalancerName: (_cluster, service) => defaultLoadBalancerName(service),
      getLoadBalancer: (_cluster, _service, context) =>
        unlessMissing(() =>
          log.act({ method: 'getLoadBalancer', about: about(context.identity) }, context, () =>
            recordOf(inventory.part(context.identity)),
          ),
        ),
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
            const part = inventory.part(context.identity)
            if (part === undefined) return ensure(service, nodes, context)
            const { warnings } = fakeListeners(service, nodes, context, target)
            return finish(part, { ...part.made, hosts: hostsOf(nodes, target) }, context, warnings)
          },
        ),
      ensureLoadBalancerDeleted: async (_cluster, _service, context) => {
        await unlessMissing(() =>
          log.act({ method: 'ensureLoadBalancerDeleted', about: about(context.identity) }, context, () => {
            const part = inventory.part(context.identity)
            if (part === undefined) return
            const isKept = part.retained || context.options.retainOnDelete === true || context.options.disown === true
            if (isKept) part.body.brought = true
            inventory.removePart(part)
          }),
        )
      },
      listLoadBalancers: (cluster, context) =>
        log.act({ method: 'listLoadBalancers', about: cluster }, context, () =>
          [...inventory.parts.values()]
            .filter(({ identity, body }) => identity.clusterId === context.clusterId && !body.brought)
            .map(({ identity }) => ({ ...identity })),
        ),
    },
  }
}

/** The cloud's own limit, told before anything is stored. */
const NO_SOURCE_IP: Finding = {
  field: 'metadata.annotations[load-balancer.webhook-cloud-provider.dev/algorithm]',
  reason: 'FieldValueNotSupported',
  message: 'Unsupported value: "source-ip": the fake cloud balances by round-robin and least-connections',
}

async function unlessMissing<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof FakeApiError && error.status === 404) return undefined
    throw error
  }
}

/** What cannot be changed on a balancer that exists is refused: there are never two for one Service (C-47). */
function refuseRebuild(part: FakeServiceBalancer, { options }: EnsureContext): void {
  if (part.internal === (options.internal === true)) return
  throw new Terminal('internal cannot be changed once the balancer is made: make the Service anew')
}

/** `TCP 80` of `TCP 80 → 30080`. */
function frontOf(port: string): string {
  return port.split(' ')[1] ?? port
}
