import { formatIpAddress, parseIpAddress } from '../ip-address.ts'
import type { AddressClaim, AddressPool, AddressWish, AssignedAddresses, PoolAddress } from './address-pool.ts'

/** Another object, and what it has. */
export interface AddressHolder {
  /** For people: `MultiClusterService shop/game`. */
  name: string
  assigned: AssignedAddresses
}

export type AddressAssignment =
  | { kind: 'assigned'; assigned: AssignedAddresses }
  /** A sentence for people. What the object has stays as it is: nothing is taken away for a wish that cannot be had. */
  | { kind: 'conflict'; message: string }

/**
 * Which addresses an object gets.
 *
 * - It keeps what it has as long as that is in the pool, is what it asks for, and is free for what it claims.
 * - What another has is never taken from it, whoever comes first to ask; a claim that both have already stands.
 * - Else an address where its hosts are served already, by another object's paths; else the first that is free.
 */
export function assignAddresses(
  wish: AddressWish,
  pools: readonly AddressPool[],
  held: AssignedAddresses | undefined,
  others: readonly AddressHolder[],
): AddressAssignment {
  const pool = pools.find(({ name }) => name === wish.pool)
  if (pool === undefined) return conflict(`there is no address pool ${wish.pool}; known are: ${namesOf(pools)}`)
  const families = wish.families ?? familiesOf(pool)
  const asked = wish.ips.map(textForm)
  const foreign = asked.find((ip) => pool.addresses.every((address) => address.ip !== ip))
  if (foreign !== undefined) return conflict(`${foreign} is not in address pool ${pool.name}`)
  const addresses: PoolAddress[] = []
  const neighbours = holdersByIp(others)
  for (const family of families) {
    const ofFamily = pool.addresses.filter((address) => address.family === family)
    if (ofFamily.length === 0) return conflict(`address pool ${pool.name} has no ${family} address`)
    const isAskedFor = ofFamily.some(({ ip }) => asked.includes(ip))
    const candidates = isAskedFor ? ofFamily.filter(({ ip }) => asked.includes(ip)) : ofFamily
    const chosen = chooseAddress(candidates, wish.claims, held, neighbours)
    if (!('ip' in chosen)) return conflict(describeConflict(pool, candidates, chosen.obstacles))
    addresses.push(chosen)
  }
  const hostname = wish.hostname ?? pool.hostname
  return {
    kind: 'assigned',
    assigned: {
      pool: pool.name,
      addresses,
      ...(hostname === undefined ? {} : { hostname }),
      claims: wish.claims,
    },
  }
}

/** What stands in the way on one address. */
interface Obstacle {
  address: PoolAddress
  claim: AddressClaim
  holder: AddressHolder
}

function chooseAddress(
  candidates: readonly PoolAddress[],
  claims: readonly AddressClaim[],
  held: AssignedAddresses | undefined,
  neighbours: ReadonlyMap<string, readonly AddressHolder[]>,
): PoolAddress | { obstacles: Obstacle[] } {
  const obstacles: Obstacle[] = []
  const free: PoolAddress[] = []
  for (const address of candidates) {
    const isHeld = held !== undefined && has(held, address)
    const kept = isHeld ? new Set(held.claims.map(claimKey)) : new Set<string>()
    const wanted = claims.filter((claim) => !kept.has(claimKey(claim)))
    const obstacle = firstObstacle(address, wanted, neighbours.get(address.ip) ?? [])
    if (obstacle !== undefined) obstacles.push(obstacle)
    else if (isHeld) return address
    else free.push(address)
  }
  const hosts = new Set(claims.filter(({ host }) => host !== undefined && host !== '').map(claimKey))
  const withHosts = free.find(({ ip }) =>
    neighbours.get(ip)?.some(({ assigned }) => assigned.claims.some((claim) => hosts.has(claimKey(claim)))),
  )
  return withHosts ?? free[0] ?? { obstacles }
}

function firstObstacle(
  address: PoolAddress,
  claims: readonly AddressClaim[],
  neighbours: readonly AddressHolder[],
): Obstacle | undefined {
  for (const holder of neighbours) {
    const taken = new Set(holder.assigned.claims.map(claimKey))
    const ports = new Set(holder.assigned.claims.map(({ port }) => port))
    const claim = claims.find((own) => excludes(own, taken, ports))
    if (claim !== undefined) return { address, claim, holder }
  }
  return undefined
}

/** A whole port leaves room for nothing else; rules for any host for no other such; a host may have paths of several. */
function excludes(claim: AddressClaim, taken: ReadonlySet<string>, ports: ReadonlySet<number>): boolean {
  const { port, host } = claim
  if (host === undefined) return ports.has(port)
  return taken.has(claimKey({ port })) || (host === '' && taken.has(claimKey(claim)))
}

function claimKey({ port, host }: AddressClaim): string {
  return host === undefined ? `${port}` : `${port} ${host}`
}

function holdersByIp(holders: readonly AddressHolder[]): Map<string, AddressHolder[]> {
  const byIp = new Map<string, AddressHolder[]>()
  for (const holder of holders) {
    for (const { ip } of holder.assigned.addresses) {
      const known = byIp.get(ip)
      if (known === undefined) byIp.set(ip, [holder])
      else known.push(holder)
    }
  }
  return byIp
}

function has({ addresses }: AssignedAddresses, { ip }: PoolAddress): boolean {
  return addresses.some((address) => address.ip === ip)
}

function describeConflict(
  pool: AddressPool,
  candidates: readonly PoolAddress[],
  obstacles: readonly Obstacle[],
): string {
  const [first] = obstacles
  if (first === undefined) return `address pool ${pool.name} has no address`
  if (candidates.length === 1) return describeObstacle(first)
  const { family } = first.address
  return `all ${candidates.length} ${family} addresses of address pool ${pool.name} are taken; ${describeObstacle(first)}`
}

function describeObstacle({ address: { ip }, claim: { port, host }, holder }: Obstacle): string {
  if (host === undefined) return `port ${port} of ${ip} is used by ${holder.name}`
  const whole = holder.assigned.claims.some((claim) => claim.port === port && claim.host === undefined)
  return whole
    ? `port ${port} of ${ip} is used by ${holder.name}`
    : `requests for any host on port ${port} of ${ip} go to ${holder.name}: name hosts, and no default backend`
}

function conflict(message: string): AddressAssignment {
  return { kind: 'conflict', message }
}

function namesOf(pools: readonly AddressPool[]): string {
  return pools.length === 0 ? 'none' : pools.map(({ name }) => name).join(', ')
}

function familiesOf({ addresses }: AddressPool): ('IPv4' | 'IPv6')[] {
  return (['IPv4', 'IPv6'] as const).filter((family) => addresses.some((address) => address.family === family))
}

function textForm(ip: string): string {
  const parsed = parseIpAddress(ip)
  return parsed === undefined ? ip : formatIpAddress(parsed)
}
