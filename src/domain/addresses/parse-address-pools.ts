import { parseCidr } from '../cidr.ts'
import { formatIpAddress, type IpAddress, parseIpAddress } from '../ip-address.ts'
import type { AddressPool, PoolAddress } from './address-pool.ts'

const MOST_POOLS = 64
const MOST_ADDRESSES = 4_096

export interface ParsedPools {
  pools: AddressPool[]
  /** By field, as `[2].listen` or `.edge.addresses[0]`: to be put behind the name of the setting. */
  faults: { field: string; message: string }[]
}

/**
 * Pools as configured: a list is the pool `default`, a map has a list by name, or a list with a `hostname`.
 *
 * ```yaml
 * addresses: [198.51.100.10, 198.51.100.16/30, 198.51.100.40-198.51.100.45, { ip: 203.0.113.7, listen: 10.0.0.7 }]
 * addresses:
 *   default: [2001:db8::10]
 *   edge: { hostname: edge.example.com, addresses: [198.51.100.0/28] }
 * ```
 *
 * `listen` is what the proxy binds, where that is another address: one of the same family, or `*` (IPv4) or `::` (IPv6)
 * for all, beside which there is room for no other address of the family. An address is there once, in all pools.
 */
export function parseAddressPools(setting: unknown): ParsedPools {
  const faults: ParsedPools['faults'] = []
  const fault = (field: string, message: string) => void faults.push({ field, message })
  const known = new Map<string, string>()
  const pools = poolSettings(setting, fault).map(({ name, field, addresses, hostname }): AddressPool => {
    const parsed = parseList(addresses, field, fault)
    const fresh = parsed.filter(({ address, field }) => isFresh(address, field, known, fault))
    return { name, addresses: fresh.map(({ address }) => address), ...(hostname === undefined ? {} : { hostname }) }
  })
  return { pools, faults: [...faults, ...wildcardFaults(pools)] }
}

type Fault = (field: string, message: string) => void
type Settings = Readonly<Record<string, unknown>>

interface PoolSetting {
  name: string
  /** Of its list. */
  field: string
  addresses: unknown
  hostname?: string
}

function poolSettings(setting: unknown, fault: Fault): PoolSetting[] {
  if (Array.isArray(setting)) return [{ name: 'default', field: '', addresses: setting }]
  if (!isSettings(setting)) {
    fault('', 'must be a list of addresses, or such lists by the names of pools')
    return []
  }
  const entries = Object.entries(setting)
  if (entries.length === 0) fault('', 'must have at least one pool')
  if (entries.length > MOST_POOLS) fault('', `must not have more than ${MOST_POOLS} pools`)
  return entries.slice(0, MOST_POOLS).flatMap(([name, pool]) => poolSetting(name, pool, fault))
}

function poolSetting(name: string, pool: unknown, fault: Fault): PoolSetting[] {
  const field = `.${name}`
  if (!/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name)) {
    fault(field, 'a name must be of letters, digits, dashes, dots and underscores')
    return []
  }
  if (Array.isArray(pool)) return [{ name, field, addresses: pool }]
  if (!isSettings(pool)) {
    fault(field, 'must be a list of addresses, or addresses with a hostname')
    return []
  }
  for (const key of Object.keys(pool)) {
    if (key !== 'addresses' && key !== 'hostname')
      fault(`${field}.${key}`, 'no such setting; known are: addresses, hostname')
  }
  const { addresses, hostname } = pool
  if (hostname === undefined) return [{ name, field: `${field}.addresses`, addresses }]
  if (typeof hostname === 'string' && isDnsName(hostname))
    return [{ name, field: `${field}.addresses`, addresses, hostname }]
  fault(`${field}.hostname`, 'must be a DNS name in lower case')
  return []
}

function isDnsName(text: string): boolean {
  return text.length <= 253 && /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.|$))+$/.test(text) && !/^[\d.]+$|\.$/.test(text)
}

interface Found {
  address: PoolAddress
  field: string
}

function parseList(list: unknown, field: string, fault: Fault): Found[] {
  if (!Array.isArray(list) || list.length === 0) {
    fault(field, 'must be a list of at least one address')
    return []
  }
  const found: Found[] = []
  for (const [index, entry] of list.entries()) {
    const parsed = parseEntry(entry)
    if ('fault' in parsed) fault(`${field}[${index}]${parsed.at ?? ''}`, parsed.fault)
    else if (found.length + parsed.addresses.length > MOST_ADDRESSES) {
      fault(`${field}[${index}]`, `must not make more than ${MOST_ADDRESSES} addresses`)
      return found
    } else found.push(...parsed.addresses.map((address) => ({ address, field: `${field}[${index}]` })))
  }
  return found
}

type Entry = { addresses: PoolAddress[] } | { fault: string; at?: string }

const EXAMPLES = '198.51.100.10, 198.51.100.16/30, 198.51.100.40-198.51.100.45 or { ip, listen }'

function parseEntry(entry: unknown): Entry {
  if (typeof entry === 'string') {
    const range = parseRange(entry)
    return 'fault' in range ? range : { addresses: writeOut(range) }
  }
  if (!isSettings(entry)) return { fault: `must be such as ${EXAMPLES}` }
  const unknown = Object.keys(entry).find((key) => key !== 'ip' && key !== 'listen')
  if (unknown !== undefined) return { at: `.${unknown}`, fault: 'no such setting; known are: ip, listen' }
  const { ip, listen = ip } = entry
  const address = typeof ip === 'string' ? parseIpAddress(ip) : undefined
  if (address === undefined || isNoTarget(address)) return { at: '.ip', fault: 'must be one IP address' }
  const bound = typeof listen === 'string' ? parseListen(listen, address) : undefined
  if (bound === undefined) {
    return { at: '.listen', fault: 'must be an address of the same family, or "*" (IPv4) or "::" (IPv6) for all' }
  }
  return { addresses: [{ family: address.family, ip: formatIpAddress(address), listen: bound }] }
}

function parseListen(text: string, { family }: IpAddress): string | undefined {
  if (text === (family === 'IPv4' ? '*' : '::')) return text
  const address = parseIpAddress(text)
  return address?.family === family && !isNoTarget(address) ? formatIpAddress(address) : undefined
}

interface Range {
  family: 'IPv4' | 'IPv6'
  first: bigint
  last: bigint
}

function parseRange(text: string): Range | { fault: string } {
  const range = readRange(text)
  if (range === undefined) return { fault: `must be such as ${EXAMPLES}` }
  if (range.last < range.first) return { fault: 'must begin with the lower address' }
  if (range.last - range.first >= MOST_ADDRESSES) return { fault: `must not be more than ${MOST_ADDRESSES} addresses` }
  const ends = [range.first, range.last].map((value) => ({ family: range.family, value }))
  return ends.some(isNoTarget) ? { fault: 'is an address that nothing can be reached at' } : range
}

function readRange(text: string): Range | undefined {
  if (text.includes('/')) {
    const network = parseCidr(text)
    if (network === undefined) return undefined
    const first = network.prefix << network.hostBits
    return { family: network.family, first, last: first + (1n << network.hostBits) - 1n }
  }
  const [first, last, ...rest] = text.split('-').map((end) => parseIpAddress(end.trim()))
  const end = text.includes('-') ? last : first
  if (first === undefined || end === undefined || rest.length > 0 || first.family !== end.family) return undefined
  return { family: first.family, first: first.value, last: end.value }
}

/** Unspecified, multicast and broadcast. The machine itself is allowed: for trying things. */
function isNoTarget({ family, value }: IpAddress): boolean {
  if (family === 'IPv6') return value === 0n || value >> 120n === 0xffn
  return value >> 24n === 0n || value >> 28n >= 0xen
}

function writeOut({ family, first, last }: Range): PoolAddress[] {
  return Array.from({ length: Number(last - first) + 1 }, (_, index) => {
    const ip = formatIpAddress({ family, value: first + BigInt(index) })
    return { family, ip, listen: ip }
  })
}

function isFresh({ ip, listen }: PoolAddress, field: string, known: Map<string, string>, fault: Fault): boolean {
  for (const [text, key] of [
    [ip, `ip ${ip}`],
    [listen, `listen ${listen}`],
  ] as const) {
    const other = known.get(key)
    if (other !== undefined) {
      fault(field, `${text} is in ${other === field ? 'it' : `"${other}"`} already`)
      return false
    }
  }
  known.set(`ip ${ip}`, field)
  known.set(`listen ${listen}`, field)
  return true
}

function wildcardFaults(pools: readonly AddressPool[]): ParsedPools['faults'] {
  const all = pools.flatMap(({ addresses }) => addresses)
  return all
    .filter(
      ({ listen, ip, family }) => listen !== ip && (listen === '*' || listen === '::') && countOf(all, family) > 1,
    )
    .map(({ ip, listen, family }) => ({
      field: '',
      message: `${ip} listens on "${listen}", which leaves no room for another ${family} address`,
    }))
}

function countOf(addresses: readonly PoolAddress[], family: string): number {
  return addresses.filter((address) => address.family === family).length
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
