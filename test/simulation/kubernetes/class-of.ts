import type { Service } from '../../../src/domain/service.ts'
import type { KubernetesSetting } from './history.ts'

/** Whose a Service is at this moment: the rule of the product in its simplest form. `inside` is of another type. */
export function classOf({ spec }: Service, { loadBalancerClass }: KubernetesSetting): 'ours' | 'another' | 'inside' {
  if (spec?.type !== 'LoadBalancer') return 'inside'
  return spec.loadBalancerClass === loadBalancerClass ? 'ours' : 'another'
}
