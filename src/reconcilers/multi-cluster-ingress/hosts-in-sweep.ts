import { hasFinalizer } from '../../domain/finalizers.ts'
import { hasHosts } from '../../domain/has-hosts.ts'
import { createHostClaims, type HostClaims, hostConflicts } from '../../domain/host-conflicts.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { ConflictsInSweep } from '../load-balancer/balanced-resource.ts'
import type { SweepCall } from '../reconciler.ts'

/** Sweeps of one process, one after the other. */
export type HostsInSweeps = (call: SweepCall) => ConflictsInSweep<MultiClusterIngress>

/**
 * A sweep sees every ingress, so it need not list them all beforehand to know who claims which host: what is not known yet
 * when an ingress is asked for is known at the end. A call that sees only a part of them does not tell, and whom those
 * before it have overlooked, wherever they ran, is among all that lose anything. Nor does the one after a call that did not
 * come to the end, should nobody go on with that.
 */
export function createHostsInSweeps(
  finalizer: string,
  /** As they are listed. */
  listed: (signal: AbortSignal) => Promise<HostClaims>,
): HostsInSweeps {
  let cameToTheEnd = true
  return ({ isFromTheStart, signal }) => {
    const isTold = isFromTheStart && cameToTheEnd
    if (isFromTheStart) cameToTheEnd = false
    const claims = createHostClaims()
    /** By an older one of a later page. */
    const overtaken = new Set<string>()
    return {
      see(ingresses) {
        if (!isTold) return
        const names = ingresses.flatMap((ingress) => (hasFinalizer(ingress, finalizer) ? claims.add(ingress) : []))
        if (names.length === 0) return
        // Of the same page, nobody was asked for yet.
        const page = new Set(ingresses.map(nameOf))
        for (const name of names) if (!page.has(name)) overtaken.add(name)
      },
      conflictsOf(ingress) {
        if (!hasHosts(ingress)) return []
        if (!isTold) return undefined
        return claims.areContested() || !hasFinalizer(ingress, finalizer) ? hostConflicts(ingress, claims) : []
      },
      async overlooked() {
        const names = isFromTheStart ? [...overtaken] : (await listed(signal)).losers()
        cameToTheEnd = true
        return names.map(keyOfName)
      },
    }
  }
}

function keyOfName(text: string): ObjectKey {
  const [namespace = '', name = ''] = text.split('/')
  return { kind: 'MultiClusterIngress', namespace, name }
}

function nameOf({ metadata }: MultiClusterIngress): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}
