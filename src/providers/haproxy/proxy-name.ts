import type { Digest } from '../../ports/digest.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'

const PREFIX: Readonly<Record<BalancerIdentity['kind'], string>> = {
  MultiClusterService: 'mcs',
  MultiClusterIngress: 'mci',
  Service: 'svc',
}

/**
 * The name of an object in the configuration, on sockets and of files: readable, and unique by a digest over all of the
 * identity. Only `[a-z0-9._-]`, whatever the identity holds.
 */
export function proxyName(identity: BalancerIdentity, digest: Digest): string {
  const { clusterId, kind, namespace, name, uid } = identity
  const unique = digest(JSON.stringify([clusterId, kind, namespace, name, uid])).slice(0, 12)
  return `${PREFIX[kind]}_${nameWord(namespace)}_${nameWord(name)}_${unique}`
}

/** A part of a name: what HAProxy does not take in one becomes a hyphen; cut, as names are for reading. */
export function nameWord(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, 40)
}
