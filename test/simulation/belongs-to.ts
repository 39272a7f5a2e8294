import type { IngressClass } from '../../src/domain/ingress-class.ts'
import type { MultiClusterIngress } from '../../src/domain/multi-cluster-ingress.ts'
import type { MultiClusterService } from '../../src/domain/multi-cluster-service.ts'
import type { ControlPlaneCore } from '../../src/local/core/control-plane-core.ts'
import { listObjects, OUR_CLASS, SECOND_CLASS } from './sim-objects.ts'

/** Either kind, as far as its fields go. */
export type Stored = MultiClusterIngress & MultiClusterService

export type Belongs = 'ours' | 'another' | 'unresolved'

/** Whose an object is at this moment: the rule of the product in its simplest form. */
export function belongsTo({ kind, spec }: Stored, core: ControlPlaneCore): Belongs {
  if (kind === 'MultiClusterService') return spec?.types?.includes('LoadBalancer') ? 'ours' : 'another'
  const classes = listObjects<IngressClass>(core, 'IngressClass')
  const defaults = classes.filter(
    ({ metadata }) => metadata.annotations?.['ingressclass.kubernetes.io/is-default-class'] === 'true',
  )
  const name = spec?.ingressClassName ?? (defaults.length === 1 ? defaults[0]?.metadata.name : undefined)
  if (!classes.some(({ metadata }) => metadata.name === name)) return 'unresolved'
  return name === OUR_CLASS || name === SECOND_CLASS ? 'ours' : 'another'
}
