import { type IpAddress, parseIpAddress } from '../ip-address.ts'
import type { Node, NodeAddress } from '../node.ts'

/** Set by the kubelet when it is started with `--node-ip`: which of its addresses a node wants to be known by. */
const PROVIDED_NODE_IP = 'alpha.kubernetes.io/provided-node-ip'

/** The addresses to publish, or why the cloud's do not fit the node (R-NODE-5). */
export type WantedAddresses = { addresses: NodeAddress[] } | { fault: string }

/**
 * What a node's addresses should be, given the cloud's; none where the cloud gave none, which never means "clear"
 * (R-NODE-10).
 *
 * | the cloud gives | the node has | then |
 * |---|---|---|
 * | no `Hostname` | some | they are kept, after the cloud's |
 * | any | asks for IPs | those come first, and hide others of their type |
 */
export function wantedAddresses(node: Node, fromCloud: readonly NodeAddress[]): WantedAddresses {
  const known = node.status?.addresses ?? []
  const hostnames = fromCloud.some(isHostname) ? [] : known.filter(isHostname)
  const addresses = [...fromCloud, ...hostnames].map(({ type, address }) => ({ type, address }))
  const asked = node.metadata.annotations?.[PROVIDED_NODE_IP]
  if (asked !== undefined) return preferProvided(asked, addresses)
  return { addresses: fromCloud.length === 0 ? [] : addresses }
}

/** In order and by value: a list is what the kubelet's users read from the front (k/k#73410). */
export function sameAddresses(a: readonly NodeAddress[] | undefined, b: readonly NodeAddress[]): boolean {
  const stored = a ?? []
  return stored.length === b.length && stored.every((address, index) => isSame(address, b[index]))
}

/** Whether two lists name the same addresses, in any order. */
export function sameAddressSet(a: readonly NodeAddress[], b: readonly NodeAddress[]): boolean {
  const within = (some: readonly NodeAddress[], all: readonly NodeAddress[]) =>
    some.every((address) => all.some((other) => isSame(address, other)))
  return within(a, b) && within(b, a)
}

function preferProvided(asked: string, addresses: NodeAddress[]): WantedAddresses {
  const ips = parseNodeIps(asked)
  if (ips === undefined) return { fault: `failed to parse node IP "${asked}": one address, or one of each family` }
  const chosen: NodeAddress[] = []
  for (const { text, ip } of ips) {
    const matching = addresses.filter(({ address }) => isSameIp(parseSloppily(address), ip))
    if (matching.length === 0) {
      return { fault: `failed to get node address from cloud provider that matches ip: ${text}` }
    }
    chosen.push(...matching.filter((address) => !chosen.includes(address)))
  }
  const types = new Set(chosen.map(({ type }) => type))
  return { addresses: [...chosen, ...addresses.filter(({ type }) => !types.has(type))] }
}

interface NodeIp {
  text: string
  ip: IpAddress
}

/** One address, or one of each family in any order; undefined for anything else. */
function parseNodeIps(text: string): NodeIp[] | undefined {
  const parts = text.split(',').map((part) => part.trim())
  const ips = parts.flatMap((part) => {
    const ip = parseSloppily(part)
    return ip === undefined ? [] : [{ text: part, ip }]
  })
  const families = new Set(ips.map(({ ip }) => ip.family))
  return ips.length === parts.length && families.size === parts.length ? ips : undefined
}

/** As Kubernetes reads addresses: leading zeros of a decimal part do not count. */
function parseSloppily(text: string): IpAddress | undefined {
  return parseIpAddress(text.includes(':') ? text : text.replace(/(^|\.)0+(?=\d)/g, '$1'))
}

function isSameIp(a: IpAddress | undefined, b: IpAddress): boolean {
  return a?.family === b.family && a.value === b.value
}

function isHostname({ type }: NodeAddress): boolean {
  return type === 'Hostname'
}

function isSame(a: NodeAddress, b: NodeAddress | undefined): boolean {
  return a.type === b?.type && a.address === b.address
}
