import type { LoadBalancerStatus } from '../../domain/load-balancer-status.ts'
import type { Clock } from '../../ports/clock.ts'
import { RetryAfter } from '../../provider/errors.ts'
import type { BalancerIdentity, BalancerRecord, ListedBalancer, ProviderContext } from '../../provider/multicluster.ts'

export interface FakeBalancer {
  identity: BalancerIdentity
  address: string
  fingerprint: string
  /** When its address is known, in milliseconds since the epoch. */
  readyAt: number
}

/** One call to the provider, in the order they came. */
export interface FakeCall {
  method: 'get' | 'ensure' | 'update' | 'ensureDeleted'
  identity: BalancerIdentity
}

/** Thrown by a call that was told to fail; called before (`before`) or after (`after`) the cloud acted. */
export interface FakeFailure {
  when: 'before' | 'after'
  error: Error
}

export interface FakeCloudOptions {
  /** From the create until a balancer has its address. */
  delayMs: number
  /** Asked at every call: a failure to raise, or undefined. */
  failure: (call: FakeCall) => FakeFailure | undefined
  clock: Clock
}

/** A cloud in memory: balancers by identity, addresses from the ranges that RFC 5737 keeps for documentation. */
export interface FakeCloud {
  get(context: ProviderContext): Promise<BalancerRecord | undefined>
  ensure(context: ProviderContext): Promise<LoadBalancerStatus>
  update(context: ProviderContext): Promise<{ status: LoadBalancerStatus; changed: boolean }>
  ensureDeleted(context: ProviderContext): Promise<void>
  /** With what `get` says of each. */
  list(clusterId: string, kind: BalancerIdentity['kind']): ListedBalancer[]
  balancers(): FakeBalancer[]
  calls(): readonly FakeCall[]
}

export function createFakeCloud({ delayMs, failure, clock }: FakeCloudOptions): FakeCloud {
  const balancers = new Map<string, FakeBalancer>()
  const calls: FakeCall[] = []
  const addresses = createAddressPool()

  /** Every call is logged, and may be told to fail before or after it acted: a lost answer is not a lost change. */
  async function act<T>(
    method: FakeCall['method'],
    { identity, signal }: ProviderContext,
    action: () => T,
  ): Promise<T> {
    signal.throwIfAborted()
    const call = { method, identity: { ...identity } }
    calls.push(call)
    if (calls.length > LOGGED) calls.shift()
    const told = failure(call)
    if (told?.when === 'before') throw told.error
    const result = action()
    if (told?.when === 'after') throw told.error
    return result
  }

  function existing({ identity }: ProviderContext): FakeBalancer | undefined {
    return balancers.get(formatIdentity(identity))
  }

  function create({ identity, fingerprint }: ProviderContext): FakeBalancer {
    const name = formatIdentity(identity)
    const balancer = {
      identity: { ...identity },
      address: addresses.take(name),
      fingerprint,
      readyAt: clock.now() + delayMs,
    }
    balancers.set(name, balancer)
    return balancer
  }

  function statusOf({ address, readyAt }: FakeBalancer): LoadBalancerStatus {
    const remaining = readyAt - clock.now()
    if (remaining > 0) throw new RetryAfter(remaining, 'the fake balancer has no address yet')
    return { ingress: [{ ip: address }] }
  }

  /** Until it has an address its creation is not finished, so it states no fingerprint. */
  function recordOf(balancer: FakeBalancer): BalancerRecord {
    if (balancer.readyAt > clock.now()) return {}
    return { status: statusOf(balancer), fingerprint: balancer.fingerprint }
  }

  return {
    get: (context) =>
      act('get', context, () => {
        const balancer = existing(context)
        return balancer && recordOf(balancer)
      }),
    ensure: (context) =>
      act('ensure', context, () => {
        const balancer = existing(context) ?? create(context)
        balancer.fingerprint = context.fingerprint
        return statusOf(balancer)
      }),
    update: (context) =>
      act('update', context, () => {
        const balancer = existing(context) ?? create(context)
        const changed = balancer.fingerprint !== context.fingerprint
        balancer.fingerprint = context.fingerprint
        return { status: statusOf(balancer), changed }
      }),
    ensureDeleted: (context) =>
      act('ensureDeleted', context, () => {
        const name = formatIdentity(context.identity)
        balancers.delete(name)
        addresses.giveBack(name)
      }),
    list: (clusterId, kind) =>
      [...balancers.values()]
        .filter(({ identity }) => identity.clusterId === clusterId && identity.kind === kind)
        .map((balancer) => ({ ...balancer.identity, record: recordOf(balancer) })),
    balancers: () => [...balancers.values()],
    calls: () => calls,
  }
}

const LOGGED = 10_000

function formatIdentity({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return [clusterId, kind, namespace, name, uid].join('/')
}

/** TEST-NET-1, -2 and -3; beyond their 762 hosts, addresses of 2001:db8::/32. Addresses given back are used again. */
function createAddressPool() {
  const numbers = new Map<string, number>()
  const free: number[] = []
  return {
    take(name: string): string {
      const number = free.pop() ?? numbers.size
      numbers.set(name, number)
      return addressOf(number)
    },
    giveBack(name: string): void {
      const number = numbers.get(name)
      if (number === undefined) return
      numbers.delete(name)
      free.push(number)
    },
  }
}

const RANGES = ['192.0.2', '198.51.100', '203.0.113']
const HOSTS = 254

function addressOf(number: number): string {
  const range = RANGES[Math.floor(number / HOSTS)]
  return range === undefined ? `2001:db8::${(number + 1).toString(16)}` : `${range}.${(number % HOSTS) + 1}`
}
