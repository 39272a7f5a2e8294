import { type Cidr, isSpecialAddress, isWithin } from '../cidr.ts'
import { parseIpAddress } from '../ip-address.ts'

/** A name that may be balanced to, or why it may not. */
export type ExternalName = { name: string } | { refused: string }

const LOCAL_NAMES = ['localhost', 'metadata', 'metadata.google.internal', 'instance-data']

/**
 * Whoever may write a Service must not be able to point a balancer at itself or at a cloud's metadata service. Names that
 * resolve there are beyond what can be seen here; numbers in disguise (`0x7f.1`) are not.
 */
export function checkExternalName(
  externalName: string | undefined,
  networks: readonly Cidr[] | undefined,
): ExternalName {
  const name = (externalName ?? '').toLowerCase().replace(/\.$/, '')
  if (name === '') return { refused: 'has no externalName' }
  const address = parseIpAddress(name)
  if (address !== undefined) {
    const allowed = !isSpecialAddress(address) && (networks === undefined || isWithin(address, networks))
    return allowed ? { name } : { refused: `names the address ${name}, which is not allowed` }
  }
  const isLocal = LOCAL_NAMES.includes(name) || name.endsWith('.localhost')
  const isNumber = /(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)
  return isLocal || isNumber ? { refused: `names ${name}, which is not allowed` } : { name }
}
