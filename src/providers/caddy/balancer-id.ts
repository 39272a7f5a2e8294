import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { OURS } from './caddy-configuration.ts'

/** The `@id` of a balancer in Caddy: readable, unique, and without a slash or a placeholder in it. */
export function balancerId({ clusterId, kind, namespace, name, uid }: BalancerIdentity): string {
  return [OURS, ...[clusterId, kind, namespace, name, uid].map(encodeURIComponent)].join(':')
}
