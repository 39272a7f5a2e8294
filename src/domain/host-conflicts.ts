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

/**
 * The paths of an ingress that an older one of ours has on the same host, in the order of its rules. Older is who was
 * created first; of two of the same second, who comes first by namespace and name.
 *
 * Rules without host claim nothing: each balancer has an address of its own, and what comes to it is its own.
 * `*.example.com` and `a.example.com` are two hosts; Exact and Prefix are two claims.
 */
export function hostConflicts(ingress: MultiClusterIngress, ours: readonly MultiClusterIngress[]): HostConflict[] {
  const older = ours.filter((other) => !isBeingDeleted(other) && isOlder(other, ingress)).sort(byAge)
  const taken = new Map<string, string>()
  for (const other of older) {
    for (const claim of claimsOf(other)) if (!taken.has(claim.identity)) taken.set(claim.identity, nameOf(other))
  }
  const lost = new Map<string, HostConflict>()
  for (const { identity, host, path, pathType } of claimsOf(ingress)) {
    const winner = taken.get(identity)
    if (winner !== undefined && !lost.has(identity)) lost.set(identity, { host, path, pathType, winner })
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

function isOlder(other: MultiClusterIngress, ingress: MultiClusterIngress): boolean {
  return nameOf(other) !== nameOf(ingress) && byAge(other, ingress) < 0
}

/** Without a creation time it has not been stored yet, and is younger than all that have. */
function byAge(a: MultiClusterIngress, b: MultiClusterIngress): number {
  const [first, second] = [ageKey(a), ageKey(b)]
  if (first === second) return nameOf(a) < nameOf(b) ? -1 : 1
  return first < second ? -1 : 1
}

function ageKey({ metadata }: MultiClusterIngress): string {
  return metadata.creationTimestamp ?? 'z'
}

function nameOf({ metadata }: MultiClusterIngress): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
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
