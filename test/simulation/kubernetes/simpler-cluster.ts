import type { KubernetesSetting } from './history.ts'

type Simpler = (setting: KubernetesSetting) => KubernetesSetting

/** What makes a world a simpler one. */
export function simplerCluster({ instances, lock }: KubernetesSetting): Simpler[] {
  return [
    (setting) => ({ ...setting, skewsMs: setting.skewsMs.map(() => 0) }),
    (setting) => ({ ...setting, cloud: { ...setting.cloud, latencyMs: 0 } }),
    (setting) => ({ ...setting, cloud: { ...setting.cloud, delayMs: 0 } }),
    (setting) => ({ ...setting, cloud: { ...setting.cloud, form: 'newest', target: 'instance' } }),
    ({ loadBalancerClass: _, ...setting }) => ({ ...setting, nodeStatus: false, refreshLabels: false }),
    ...(lock === 'lease' && instances > 1
      ? [(setting: KubernetesSetting) => ({ ...setting, instances: setting.instances - 1 })]
      : []),
  ]
}
