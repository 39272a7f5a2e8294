import type { Cluster } from '../cluster.ts'
import type { JsonPatchOperation } from '../json-patch.ts'
import { isBeingDeleted } from '../kubernetes-object.ts'
import type { ClusterPropagationPolicy, PropagationSpec, Toleration } from '../propagation-policy.ts'
import { type DesiredChange, replaceSpec } from './desired-change.ts'
import { samePropagation } from './same-propagation.ts'

/** The Go manager's name; there is one for all providers of a control plane. */
export const CRD_POLICY_NAME = 'serviceexportpropagation-policy'

/** The one key of its kind that we keep. */
export const CRD_POLICY_KEY = { kind: 'ClusterPropagationPolicy', namespace: '', name: CRD_POLICY_NAME } as const

/**
 * Our mark. The policy has no owner that could be named, and the Go manager leaves no sign on it; so we leave the one that
 * Kubernetes recommends. It names the family, not the provider: every provider wants the very same policy.
 */
const MANAGED_BY = 'app.kubernetes.io/managed-by'
const MANAGER = 'webhook-cloud-provider'

/**
 * The policy that takes the ServiceExport CRD to every cluster, without which no ServiceExport can go there.
 *
 * | there is | clusters | do |
 * |---|---|---|
 * | none | some | create |
 * | none | none | nothing: an empty list would select every cluster to come (B24) |
 * | ours | some | put right where it differs (B25: compared as a whole) |
 * | ours | none | delete |
 * | another's, as the Go manager makes it, and we take over | some | mark and put right |
 * | another's | any | nothing |
 */
export function crdPropagationDesired(
  clusters: readonly Cluster[],
  existing: ClusterPropagationPolicy | undefined,
  { takeOver }: { takeOver: boolean },
): DesiredChange<ClusterPropagationPolicy> {
  const names = clusters
    .filter((cluster) => !isBeingDeleted(cluster))
    .map(({ metadata }) => metadata.name)
    .sort()
  const spec = desiredSpec(names)
  if (existing === undefined) {
    return names.length === 0
      ? { do: 'leave', reason: 'there are no clusters' }
      : { do: 'create', object: desiredPolicy(spec) }
  }
  if (isBeingDeleted(existing)) return { do: 'leave', reason: 'it is being deleted' }
  const isOurs = existing.metadata.labels?.[MANAGED_BY] === MANAGER
  if (isOurs && names.length === 0) return { do: 'delete', existing }
  if (isOurs) {
    return samePropagation(existing.spec, spec, '')
      ? { do: 'leave', reason: 'it is as it should be' }
      : replaceSpec(existing, spec)
  }
  const adopted = takeOver && names.length > 0 && isGoManagers(existing.spec)
  return adopted ? replaceSpec(existing, spec, [markPatch(existing)]) : { do: 'leave', reason: 'it is not ours' }
}

function desiredPolicy(spec: PropagationSpec): ClusterPropagationPolicy {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'ClusterPropagationPolicy',
    metadata: { name: CRD_POLICY_NAME, labels: { [MANAGED_BY]: MANAGER } },
    spec,
  }
}

/** No seconds: a cluster that comes back must not find its CRD, and every ServiceExport with it, evicted (MCP#19). */
const TOLERATIONS: readonly Toleration[] = [
  { key: 'cluster.karmada.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'cluster.karmada.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
]

function desiredSpec(clusterNames: string[]): PropagationSpec {
  return {
    resourceSelectors: [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        name: 'serviceexports.multicluster.x-k8s.io',
      },
    ],
    placement: {
      clusterAffinity: { clusterNames },
      clusterTolerations: TOLERATIONS.map((toleration) => ({ ...toleration })),
    },
  }
}

/** Ours but for its list of clusters, which may be old; versions before PR #19 wrote no tolerations. */
function isGoManagers(spec: PropagationSpec | undefined): boolean {
  const clusterNames = spec?.placement?.clusterAffinity?.clusterNames ?? []
  const { clusterTolerations: _, ...before19 } = desiredSpec(clusterNames).placement ?? {}
  const known = [desiredSpec(clusterNames), { ...desiredSpec(clusterNames), placement: before19 }]
  return known.some((candidate) => samePropagation(spec, candidate, ''))
}

function markPatch({ metadata }: ClusterPropagationPolicy): JsonPatchOperation {
  return metadata.labels === undefined
    ? { op: 'add', path: '/metadata/labels', value: { [MANAGED_BY]: MANAGER } }
    : { op: 'add', path: `/metadata/labels/${MANAGED_BY.replace('/', '~1')}`, value: MANAGER }
}
