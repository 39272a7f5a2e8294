import type { MultiClusterIngress } from './multi-cluster-ingress.ts'

/** Whether it claims anything that another may claim too. */
export function hasHosts({ spec }: MultiClusterIngress): boolean {
  return (spec?.rules ?? []).some(({ host = '' }) => host !== '')
}
