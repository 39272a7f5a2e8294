import { type IpAddress, parseIpAddress } from './ip-address.ts'

/** A network: `192.0.2.0/24`, `2001:db8::/32`. */
export interface Cidr {
  family: 'IPv4' | 'IPv6'
  /** Bits after the prefix; shifted out before addresses are compared. */
  hostBits: bigint
  /** The prefix, shifted down by `hostBits`. */
  prefix: bigint
}

/** Undefined for what is no network; bits of the address behind the prefix do not matter. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', length = '', ...rest] = text.split('/')
  const parsed = parseIpAddress(address)
  if (parsed === undefined || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return undefined
  const hostBits = (parsed.family === 'IPv4' ? 32 : 128) - Number(length)
  if (hostBits < 0) return undefined
  return { family: parsed.family, hostBits: BigInt(hostBits), prefix: parsed.value >> BigInt(hostBits) }
}

export function isWithin(address: IpAddress, networks: readonly Cidr[]): boolean {
  return networks.some(
    ({ family, hostBits, prefix }) => family === address.family && address.value >> hostBits === prefix,
  )
}

/** Addresses that mean the machine itself, the link it is on, or nobody: never a backend, whatever an object says. */
export function isSpecialAddress(address: IpAddress): boolean {
  specialNetworks ??= SPECIAL_NETWORKS.flatMap((text) => parseCidr(text) ?? [])
  return isWithin(address, specialNetworks)
}

const SPECIAL_NETWORKS = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/127',
  'fe80::/10',
  'ff00::/8',
]

// Read when the first address is looked at: a process that only opens doors looks at none.
let specialNetworks: readonly Cidr[] | undefined
