/** An address as a number. IPv6 forms of IPv4 addresses (`::ffff:192.0.2.1`) are IPv4. */
export interface IpAddress {
  family: 'IPv4' | 'IPv6'
  value: bigint
}

/** Undefined for what is no address; leading zeros are refused, since readers disagree on what they mean. */
export function parseIpAddress(text: string): IpAddress | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

function parseIpv4(text: string): IpAddress | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255)) {
    return undefined
  }
  return { family: 'IPv4', value: parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n) }
}

const IPV4_MAPPED = 0xffffn

/** The URL parser knows all text forms and writes the one of RFC 5952, which is easy to take apart. */
function parseIpv6(text: string): IpAddress | undefined {
  const url = `http://[${text}]`
  if (!/^[0-9a-fA-F:.]+$/.test(text) || !URL.canParse(url)) return undefined
  const [head = '', tail = ''] = new URL(url).hostname.slice(1, -1).split('::')
  const left = head.split(':').filter((group) => group !== '')
  const right = tail.split(':').filter((group) => group !== '')
  const groups = [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right]
  const value = groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
  return value >> 32n === IPV4_MAPPED ? { family: 'IPv4', value: value & 0xffff_ffffn } : { family: 'IPv6', value }
}

/** The one text form: dotted, or that of RFC 5952. */
export function formatIpAddress({ family, value }: IpAddress): string {
  if (family === 'IPv4') return [24n, 16n, 8n, 0n].map((bits) => (value >> bits) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
