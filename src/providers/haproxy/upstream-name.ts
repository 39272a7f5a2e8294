import type { Digest } from '../../ports/digest.ts'
import { nameWord, proxyName } from './proxy-name.ts'
import type { ServedIngress } from './served-record.ts'

/** Of the backend. A Service name may be longer than what is left of it for reading. */
export function upstreamName({ identity }: Pick<ServedIngress, 'identity'>, key: string, digest: Digest): string {
  return `${proxyName(identity, digest)}_${nameWord(key)}_${digest(key).slice(0, 6)}`
}
