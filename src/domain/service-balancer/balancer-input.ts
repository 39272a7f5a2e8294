import { meaningfulAnnotations } from '../annotations.ts'
import { sameJson } from '../canonical-json.ts'
import type { Service } from '../service.ts'
import { wantsBalancer } from './service-standing.ts'

/**
 * All of a Service that a balancer is made from (R-SVC-4). What is not here (labels, selector, the order of ipFamilies,
 * internalTrafficPolicy, status) neither wakes us nor counts as a difference from what was made. An absent list of source
 * ranges is not an empty one, as upstream.
 */
export function balancerInput(service: Service): Record<string, unknown> {
  const { spec = {}, metadata } = service
  return {
    uid: metadata.uid,
    annotations: meaningfulAnnotations(service),
    loadBalancerSourceRanges: spec.loadBalancerSourceRanges,
    ports: (spec.ports ?? []).map(({ name, protocol, port, nodePort, targetPort, appProtocol }) => ({
      name: name ?? '',
      protocol: protocol ?? 'TCP',
      port,
      nodePort: nodePort ?? 0,
      targetPort,
      appProtocol,
    })),
    sessionAffinity: spec.sessionAffinity ?? 'None',
    sessionAffinityConfig: spec.sessionAffinityConfig,
    loadBalancerIP: spec.loadBalancerIP ?? '',
    externalIPs: spec.externalIPs ?? [],
    externalTrafficPolicy: spec.externalTrafficPolicy ?? '',
    healthCheckNodePort: spec.healthCheckNodePort ?? 0,
    ipFamilies: spec.ipFamilies?.length ?? 0,
  }
}

/** Whether an update of a Service can mean work for its balancer (R-SVC-4). */
export function needsUpdate(before: Service, after: Service, ours: string | undefined): boolean {
  const wanted = wantsBalancer(before, ours)
  const wants = wantsBalancer(after, ours)
  if (!wanted && !wants) return false
  return wanted !== wants || !sameJson(balancerInput(before), balancerInput(after))
}
