import { hasFinalizer } from '../domain/finalizers.ts'
import { createHostClaims, type HostClaims } from '../domain/host-conflicts.ts'
import type { MultiClusterIngress } from '../domain/multi-cluster-ingress.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import { eachPage } from '../reconcilers/list-all.ts'
import type { ClaimedHosts } from '../reconcilers/multi-cluster-ingress/multi-cluster-ingress-reconciler.ts'

// A rollout of many ingresses asks for one list, not for one each.
const RECENT_MS = 10_000

/** From one list of all ingresses for all who ask within ten seconds. */
export function createClaimedHosts(
  reader: ClusterReader,
  { finalizer, clock }: { finalizer: string; clock: Clock },
): ClaimedHosts {
  let known: { claims: Promise<HostClaims>; until: number } | undefined

  function load(signal: AbortSignal, see: (ingress: MultiClusterIngress) => void = () => {}): Promise<HostClaims> {
    const claims = readClaims(reader, finalizer, signal, see)
    const mine = { claims, until: clock.now() + RECENT_MS }
    known = mine
    // A failure, or a caller that gave up, is nobody else's answer.
    claims.catch(() => {
      if (known === mine) known = undefined
    })
    return claims
  }

  const isRecent = () => known !== undefined && known.until > clock.now()
  return {
    recent: (signal) => (known !== undefined && isRecent() ? known.claims : load(signal)),
    async renew(key, signal) {
      if (isRecent()) return undefined
      let ingress: MultiClusterIngress | undefined
      await load(signal, (seen) => {
        if (isOf(seen, key)) ingress = seen
      })
      return { object: ingress }
    },
  }
}

async function readClaims(
  reader: ClusterReader,
  finalizer: string,
  signal: AbortSignal,
  see: (ingress: MultiClusterIngress) => void,
): Promise<HostClaims> {
  const claims = createHostClaims()
  await eachPage('MultiClusterIngress', reader, { limit: 500, signal }, (ingresses) => {
    for (const ingress of ingresses) {
      see(ingress)
      if (hasFinalizer(ingress, finalizer)) claims.add(ingress)
    }
  })
  return claims
}

function isOf(ingress: MultiClusterIngress, key: ObjectKey): boolean {
  return formatKey(keyOf('MultiClusterIngress', ingress)) === formatKey(key)
}
