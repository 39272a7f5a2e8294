import { formatKey, type ObjectKey } from '../../domain/object-key.ts'
import type { Digest } from '../../ports/digest.ts'

/** A key may be longer than the 63 characters that every tool takes for a name. */
export function leaseName(owner: string, key: ObjectKey, digest: Digest): string {
  return `wcp-${digest(JSON.stringify([owner, formatKey(key)])).slice(0, 40)}`
}
