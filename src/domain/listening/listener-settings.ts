import type { MultiClusterOptions } from '../balancer-annotations/multi-cluster-options.ts'
import { plannedHealthCheck } from '../balancer-annotations/planned-health-check.ts'
import type { ClusterWeights } from '../routing/server-weights.ts'
import type { ListenerOptions } from './listener-plan.ts'

/** What the annotations of a MultiClusterService say of its traffic. */
export interface ListenerSettings {
  options: ListenerOptions
  clusterWeights?: ClusterWeights
}

/** Annotations of a MultiClusterService (`parseMultiClusterOptions`), with all defaults filled in. */
export function listenerSettings(asked: MultiClusterOptions): ListenerSettings {
  const { clusterWeights } = asked
  return {
    options: {
      sourceRanges: (asked.sourceRanges ?? []).toSorted(),
      proxyProtocol: asked.proxyProtocol ?? 'none',
      acceptProxyProtocol: asked.acceptProxyProtocol ?? false,
      algorithm: asked.algorithm ?? 'round-robin',
      affinity: asked.affinity === 'source-ip' ? 'source-ip' : 'none',
      affinitySeconds: asked.affinitySeconds ?? 10_800,
      ...plannedHealthCheck(asked),
      connectTimeoutSeconds: asked.connectTimeoutSeconds ?? 5,
      idleTimeoutSeconds: asked.idleTimeoutSeconds ?? 3_600,
    },
    ...(clusterWeights === undefined ? {} : { clusterWeights }),
  }
}
