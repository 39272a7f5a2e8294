import { sameJson } from '../canonical-json.ts'
import type { PropagationSpec, Toleration } from '../propagation-policy.ts'

/**
 * Whether two specs ask for the same. What the CRD or Karmada's webhook fills in is no difference:
 *
 * | field | filled in |
 * |---|---|
 * | any | null, "", false, 0, [] and {} mean absent |
 * | `priority`, `preemption`, `conflictResolution`, `schedulerName` | 0, Never, Abort, default-scheduler (CRD) |
 * | `placement.clusterTolerations` | not-ready and unreachable, NoExecute, for some seconds (webhook) |
 * | `resourceSelectors[].namespace` | the policy's own (webhook) |
 *
 * The order of clusters means nothing. Everything else counts, fields that we never write included.
 */
export function samePropagation(
  a: PropagationSpec | undefined,
  b: PropagationSpec | undefined,
  namespace: string,
): boolean {
  return sameJson(withoutDefaults(a ?? {}, namespace), withoutDefaults(b ?? {}, namespace))
}

const DEFAULTS: Readonly<Record<string, unknown>> = {
  preemption: 'Never',
  conflictResolution: 'Abort',
  schedulerName: 'default-scheduler',
}

function withoutDefaults({ resourceSelectors, placement, ...rest }: PropagationSpec, namespace: string): unknown {
  const others = Object.entries(rest).filter(([name, value]) => value !== DEFAULTS[name])
  const { clusterTolerations, clusterAffinity, ...where } = placement ?? {}
  const { clusterNames, ...affinity } = clusterAffinity ?? {}
  return pruned({
    ...Object.fromEntries(others),
    resourceSelectors: (resourceSelectors ?? []).map((selector) =>
      selector.namespace === namespace ? { ...selector, namespace: '' } : selector,
    ),
    placement: {
      ...where,
      clusterAffinity: { ...affinity, clusterNames: (clusterNames ?? []).toSorted() },
      clusterTolerations: (clusterTolerations ?? []).filter((toleration) => !isWebhooks(toleration)),
    },
  })
}

const TAINTS_OF_FAILURE: readonly unknown[] = ['cluster.karmada.io/not-ready', 'cluster.karmada.io/unreachable']

/** Karmada's webhook gives every policy time to see whether a cluster comes back. */
function isWebhooks({ key, effect, tolerationSeconds }: Toleration): boolean {
  return TAINTS_OF_FAILURE.includes(key) && effect === 'NoExecute' && typeof tolerationSeconds === 'number'
}

/** Without everything that Go writes for "not set". */
function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(pruned)
  if (typeof value !== 'object' || value === null) return value || undefined
  const members = Object.entries(value)
    .map(([name, member]) => [name, pruned(member)] as const)
    .filter(([, member]) => member !== undefined)
  return members.length === 0 ? undefined : Object.fromEntries(members)
}
