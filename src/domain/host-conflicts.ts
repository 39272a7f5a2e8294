import { type BackendFinding, warning } from './backends/backend-finding.ts'
import { isBeingDeleted } from './kubernetes-object.ts'
import type { MultiClusterIngress } from './multi-cluster-ingress.ts'

/** A path that an older ingress of ours claims too, and keeps. */
export interface HostConflict {
  host: string
  path: string
  pathType: string
  /** Namespace and name of the ingress that has it. */
  winner: string
}

/** Who claims which path of which host. */
export interface HostClaims {
  /** Answers whom it is older than, of all that claim the same, where it is the oldest: namespaces and names. */
  add(ingress: MultiClusterIngress): string[]
  /** Whether anything is claimed by more than one. */
  areContested(): boolean
  /** All that claim what an older one has: namespaces and names. */
  losers(): string[]
  /** The oldest that claims this, apart from the ingress itself. */
  oldest(identity: string, apartFrom: string): Claimant | undefined
}

interface Claimant {
  /** Namespace and name. */
  name: string
  createdAt: string
}

/** Of ingresses that may be many: the objects themselves are not kept. */
export function createHostClaims(): HostClaims {
  // The oldest of all, and the one after it: one of the two is not the ingress that asks. Then all others.
  const claimants = new Map<string, Claimant[]>()
  let contested = false
  return {
    add(ingress) {
      if (isBeingDeleted(ingress)) return []
      const claimant = claimantOf(ingress)
      const overtaken: string[] = []
      for (const { identity } of claimsOf(ingress)) {
        const known = claimants.get(identity)
        if (known === undefined) {
          claimants.set(identity, [claimant])
        } else {
          contested = true
          overtaken.push(...insert(claimant, known))
        }
      }
      return overtaken
    },
    areContested: () => contested,
    losers: () => [...new Set([...claimants.values()].flatMap(([, ...younger]) => younger.map(({ name }) => name)))],
    oldest(identity, apartFrom) {
      return claimants.get(identity)?.find(({ name }) => name !== apartFrom)
    },
  }
}

/** Answers those for whom it is another now that is older than they are. */
function insert(claimant: Claimant, known: Claimant[]): string[] {
  const [first, second] = known
  if (first === undefined || first.name === claimant.name) return []
  const place = isOlder(claimant, first) ? 0 : second === undefined || isOlder(claimant, second) ? 1 : known.length
  const overtaken = place === 0 ? known.map(({ name }) => name) : []
  // Only the first two are in order: with thousands for one path, none is moved for each that comes.
  if (place < 2 && second !== undefined) {
    known.push(second)
    known[1] = place === 0 ? first : claimant
    known[0] = place === 0 ? claimant : first
  } else known.splice(place, 0, claimant)
  return overtaken
}

/**
 * The paths of an ingress that an older one of ours has on the same host, in the order of its rules. Older is who was
 * created first; of two of the same second, who comes first by namespace and name.
 *
 * Rules without host claim nothing: each balancer has an address of its own, and what comes to it is its own.
 * `*.example.com` and `a.example.com` are two hosts; Exact and Prefix are two claims.
 */
export function hostConflicts(ingress: MultiClusterIngress, ours: Pick<HostClaims, 'oldest'>): HostConflict[] {
  const claimant = claimantOf(ingress)
  const lost = new Map<string, HostConflict>()
  for (const { identity, host, path, pathType } of claimsOf(ingress)) {
    const other = ours.oldest(identity, claimant.name)
    if (other === undefined || !isOlder(other, claimant) || lost.has(identity)) continue
    lost.set(identity, { host, path, pathType, winner: other.name })
  }
  return [...lost.values()]
}

export function hostConflictFindings(conflicts: readonly HostConflict[]): BackendFinding[] {
  return conflicts.map(({ host, path, winner }) =>
    warning(
      'HostConflict',
      `${host}${path}`,
      `is claimed by the older multiclusteringress ${winner} too, which keeps it`,
    ),
  )
}

interface Claim {
  identity: string
  host: string
  path: string
  pathType: string
}

function claimsOf({ spec }: MultiClusterIngress): Claim[] {
  return (spec?.rules ?? []).flatMap(({ host = '', http }) =>
    host === '' ? [] : (http?.paths ?? []).map(({ path, pathType }) => claim(host.toLowerCase(), path, pathType)),
  )
}

/** A prefix with and without a slash at its end is the same prefix. */
function claim(host: string, path = '/', pathType = 'ImplementationSpecific'): Claim {
  const whole = path === '' ? '/' : path
  const same = pathType !== 'Exact' && whole.endsWith('/') ? whole.slice(0, -1) : whole
  return { identity: JSON.stringify([host, pathType === 'Exact', same]), host, path: whole, pathType }
}

/** Without a creation time it has not been stored yet, and is younger than all that have. */
function claimantOf({ metadata }: MultiClusterIngress): Claimant {
  return { name: `${metadata.namespace ?? ''}/${metadata.name}`, createdAt: metadata.creationTimestamp ?? 'z' }
}

function isOlder(a: Claimant, b: Claimant): boolean {
  return a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt
}

/** The ingress without the paths that an older one keeps; a rule that loses all of them goes. */
export function withoutLostPaths(ingress: MultiClusterIngress, lost: readonly HostConflict[]): MultiClusterIngress {
  if (lost.length === 0) return ingress
  const identities = new Set(lost.map(({ host, path, pathType }) => claim(host, path, pathType).identity))
  const rules = (ingress.spec?.rules ?? []).flatMap((rule) => {
    const { host = '', http } = rule
    const paths = (http?.paths ?? []).filter(
      ({ path, pathType }) => !identities.has(claim(host.toLowerCase(), path, pathType).identity),
    )
    if (host === '' || paths.length === http?.paths?.length) return [rule]
    return paths.length === 0 ? [] : [{ ...rule, http: { ...http, paths } }]
  })
  return { ...ingress, spec: { ...ingress.spec, rules } }
}
