import type { MultiClusterOptions } from '../balancer-annotations/multi-cluster-options.ts'
import { plannedHealthCheck } from '../balancer-annotations/planned-health-check.ts'
import type { PlannedUpstream, RouteOptions } from './route-plan.ts'
import type { ClusterWeights } from './server-weights.ts'

/** What the annotations of an ingress say of its traffic. */
export interface RouteSettings {
  options: RouteOptions
  clusterWeights?: ClusterWeights
  /** Overrides appProtocol. */
  backendProtocol?: PlannedUpstream['protocol']
}

/** Annotations of a MultiClusterIngress (`parseMultiClusterOptions`), with all defaults filled in. */
export function routeSettings(asked: MultiClusterOptions): RouteSettings {
  const { clusterWeights, backendProtocol, rewriteTarget } = asked
  return {
    options: {
      tlsRedirect: asked.redirectHttpToHttps === true ? REDIRECTS[asked.redirectStatus ?? '308'] : 0,
      ...(rewriteTarget === undefined ? {} : { rewriteTarget }),
      ...plannedHealthCheck(asked),
      passiveFailures: asked.passiveFailures ?? 3,
      passiveSeconds: asked.passiveSeconds ?? 10,
      requestHeaders: asked.requestHeaders ?? {},
      responseHeaders: asked.responseHeaders ?? {},
      connectTimeoutSeconds: asked.connectTimeoutSeconds ?? 5,
      responseTimeoutSeconds: asked.responseTimeoutSeconds ?? 60,
      idleTimeoutSeconds: asked.idleTimeoutSeconds ?? 60,
      requestBodyLimit: asked.requestBodyLimit ?? 0,
      affinity: asked.affinity ?? 'none',
    },
    ...(clusterWeights === undefined ? {} : { clusterWeights }),
    ...(backendProtocol === undefined ? {} : { backendProtocol }),
  }
}

const REDIRECTS = { '301': 301, '302': 302, '307': 307, '308': 308 } as const
