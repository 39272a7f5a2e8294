import { type Cidr, isWithin, parseCidr } from '../cidr.ts'
import type { IpAddress } from '../ip-address.ts'
import type { Node } from '../node.ts'
import { sameAddressSet } from './node-addresses.ts'
import type { Route } from './route.ts'

/** A route that a node needs and does not have. */
export interface MissingRoute {
  node: Node
  cidr: string
}

export interface RoutePlan {
  missing: MissingRoute[]
  /** To be deleted, before anything is created: at no time has a network two next hops (C-119). */
  surplus: Route[]
  /** Nodes whose NetworkUnavailable condition is ours to say. */
  concerned: Node[]
}

/**
 * The whole of what is between the routes that exist and those that the nodes need (R-RT-2, R-RT-3).
 *
 * | podCIDR of a node | a route of that node | then |
 * |---|---|---|
 * | any | same network, same addresses or none counted | keep |
 * | any | same network, other addresses | delete, create |
 * | any | none | create |
 *
 * | route within the cluster's networks | then |
 * |---|---|
 * | blackhole, or of no node's podCIDR | delete |
 * | outside, or unreadable | not ours to judge |
 */
export function planRoutes(nodes: readonly Node[], routes: readonly Route[], clusterCidrs: readonly Cidr[]): RoutePlan {
  const wanted = new Map(nodes.map((node) => [node.metadata.name, { node, cidrs: podCidrs(node) }]))
  const isKept = (route: Route) => {
    const owner = wanted.get(route.targetNode)
    if (owner === undefined || route.blackhole === true || !owner.cidrs.has(canonicalCidr(route.destinationCIDR)))
      return false
    return (
      route.enableNodeAddresses !== true ||
      sameAddressSet(route.targetNodeAddresses ?? [], owner.node.status?.addresses ?? [])
    )
  }
  const kept = routes.filter(isKept)
  const missing = [...wanted.values()].flatMap(({ node, cidrs }) =>
    [...cidrs]
      .filter(([network]) => !kept.some((route) => leadsTo(route, node, network)))
      .map(([, cidr]) => ({ node, cidr })),
  )
  return {
    missing,
    surplus: routes.filter((route) => !isKept(route) && isToGo(route, missing, clusterCidrs)),
    concerned: nodes.filter(
      (node) => podCidrs(node).size > 0 || routes.some(({ targetNode }) => targetNode === node.metadata.name),
    ),
  }
}

/** Whether the route exists that was missing: another may have made it, or our own answer was lost (C-121). */
export function isThere({ node, cidr }: MissingRoute, routes: readonly Route[]): boolean {
  return routes.some((route) => route.blackhole !== true && leadsTo(route, node, canonicalCidr(cidr)))
}

export function hasPodCidrs(node: Node): boolean {
  return podCidrs(node).size > 0
}

/** One text for one network, however it was written (C-129); what is no network stays as it is. */
export function canonicalCidr(text: string): string {
  const cidr = parseCidr(text)
  return cidr === undefined ? text : `${cidr.family}/${cidr.prefix.toString(16)}/${cidr.hostBits}`
}

/** By network, so that a network that is named twice is one route (C-127); as the node writes it. */
function podCidrs({ spec }: Node): Map<string, string> {
  const named = spec?.podCIDRs ?? []
  return new Map(named.filter((cidr) => cidr !== '').map((cidr) => [canonicalCidr(cidr), cidr]))
}

function leadsTo({ targetNode, destinationCIDR }: Route, { metadata }: Node, network: string): boolean {
  return targetNode === metadata.name && canonicalCidr(destinationCIDR) === network
}

/** Ours to remove, or in the way of the one that takes its place. */
function isToGo(route: Route, missing: readonly MissingRoute[], clusterCidrs: readonly Cidr[]): boolean {
  if (isResponsible(route, clusterCidrs)) return true
  const network = canonicalCidr(route.destinationCIDR)
  return missing.some(({ node, cidr }) => canonicalCidr(cidr) === network && leadsTo(route, node, network))
}

/** The first or the last address of its network lies in one of the cluster's. */
function isResponsible({ destinationCIDR }: Route, clusterCidrs: readonly Cidr[]): boolean {
  const cidr = parseCidr(destinationCIDR)
  return cidr !== undefined && endsOf(cidr).some((address) => isWithin(address, clusterCidrs))
}

function endsOf({ family, prefix, hostBits }: Cidr): IpAddress[] {
  const first = prefix << hostBits
  return [first, first + (1n << hostBits) - 1n].map((value) => ({ family, value }))
}
