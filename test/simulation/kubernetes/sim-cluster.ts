import type { Config } from '../../../src/config/config.ts'
import { parseConfig } from '../../../src/config/parse-config.ts'
import { SERVICE_FINALIZER } from '../../../src/domain/service-balancer/service-standing.ts'
import { OPTION } from '../../support/build-cluster.ts'
import { IDENTITY } from '../sim-config.ts'
import type { KubernetesSetting, NodeNumber, ServiceName } from './history.ts'

export const SERVICES: readonly ServiceName[] = ['web', 'api']
export const NODES: readonly NodeNumber[] = [1, 2, 3]
export const CLUSTER_NAME = 'kubernetes'
export { OPTION, SERVICE_FINALIZER }

export const OTHER_CLASS = 'example.com/other'
export const OWN_CLASS = 'example.com/own'
/** What is in the cluster's networks; beyond 200 nobody's pods. */
export const podCidr = (index: number) => `10.244.${index}.0/24`
export const podCidr6 = (index: number) => `fd00:10:${index}::/64`
/** Of the cluster's account, and not of its pods. */
export const outsideCidr = (index: number) => `172.16.${index}.0/24`
/** Another cluster's. */
export const foreignCidr = (index: number) => `10.99.${index}.0/24`
export const NEW_NODE_GRACE_MS = 20_000
/** A new machine is seen within this, whatever the clocks say. */
export const SEEN_WITHIN_MS = 12_000

export function nameOf(node: NodeNumber): string {
  return `n${node}`
}

const TEXT = `
provider: { name: fake }
controlPlane: kubernetes
identity: ${IDENTITY}
kubernetes: { kubeconfig: /unused }
work: { deadlineMs: 30000, providerDeadlineMs: 5000 }
sweep: { pageSize: 2, concurrency: 2 }
cloud:
  clusterCidr: 10.244.0.0/16,fd00:10::/32
  nodes: { newNodeGraceMs: ${NEW_NODE_GRACE_MS} }
`

const BASE = (() => {
  const { config, faults } = parseConfig(TEXT, {})
  if (config === undefined) throw new TypeError(JSON.stringify(faults))
  return config
})()

export function configOf({ loadBalancerClass, refreshLabels }: KubernetesSetting): Config {
  const { nodes, ...cloud } = BASE.cloud
  return {
    ...BASE,
    cloud: {
      ...cloud,
      ...(loadBalancerClass !== undefined && { loadBalancerClass }),
      nodes: { ...nodes, refreshLabels },
    },
  }
}
