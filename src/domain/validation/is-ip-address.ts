/**
 * Whether a text is an IP address to the API server, whose parser (k8s.io/utils/net, ParseIPSloppy) is older than
 * Go's: leading zeros are allowed in each part, a zone is not.
 */
export function isIpAddress(text: string): boolean {
  const separator = /[.:]/.exec(text)?.[0]
  return separator === '.' ? isIpv4(text) : separator === ':' && isIpv6(text)
}

function isIpv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every((part) => /^[0-9]+$/.test(part) && Number(part) <= 255)
}

function isIpv6(text: string): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  const [head = '', tail] = halves
  // Only the very end may be written as an IPv4 address.
  const groups = groupsOf(head, tail === undefined)
  if (tail === undefined) return groups === 8
  // An ellipsis stands for one group at least.
  return groups + groupsOf(tail, true) <= 7
}

/** How many of the eight groups these are; more than eight if one of them is no group. */
function groupsOf(text: string, atEnd: boolean): number {
  if (text === '') return 0
  const groups = text.split(':')
  const ipv4 = atEnd && isIpv4(text.slice(text.lastIndexOf(':') + 1))
  const hex = ipv4 ? groups.slice(0, -1) : groups
  const good = hex.every((group) => /^[0-9a-fA-F]+$/.test(group) && Number.parseInt(group, 16) <= 0xffff)
  return good ? hex.length + (ipv4 ? 2 : 0) : Number.POSITIVE_INFINITY
}
