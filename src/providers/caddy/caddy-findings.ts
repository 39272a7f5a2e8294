import { invalidAnnotation } from '../../domain/balancer-annotations/parse-annotations.ts'
import { parseMultiClusterOptions } from '../../domain/balancer-annotations/parse-multi-cluster-options.ts'
import { plannedHealthCheck } from '../../domain/balancer-annotations/planned-health-check.ts'
import type { Finding } from '../../domain/finding.ts'
import type { MultiClusterIngress } from '../../domain/multi-cluster-ingress.ts'
import { isRequestPath } from '../../domain/routing/is-request-path.ts'
import { validateRoutes } from '../../domain/routing/validate-routes.ts'
import { invalid } from '../../domain/validation/field-errors.ts'
import { isMatchable } from './decoded-path.ts'

/** What is wrong with an ingress for any proxy, and what Caddy 2.6 in particular cannot do. */
export function caddyFindings(ingress: MultiClusterIngress): Finding[] {
  return [...validateRoutes(ingress), ...unmatchablePaths(ingress), ...beyondCaddy(ingress)]
}

function unmatchablePaths({ spec }: MultiClusterIngress): Finding[] {
  return (spec?.rules ?? []).flatMap(({ http }, rule) =>
    (http?.paths ?? []).flatMap(({ path = '' }, index) => {
      if (!isRequestPath(path) || isMatchable(path)) return []
      const remedy = 'must be UTF-8, without //, /./ and /../, also as %XX: Caddy matches nothing else'
      return [invalid(`spec.rules[${rule}].http.paths[${index}].path`, path, remedy)]
    }),
  )
}

function beyondCaddy(ingress: MultiClusterIngress): Finding[] {
  const { options } = parseMultiClusterOptions(ingress, 'MultiClusterIngress')
  const findings: Finding[] = []
  if (plannedHealthCheck(options).healthCheck?.protocol === 'tcp') {
    const remedy = 'Caddy asks pods over HTTP alone; set health-check-path, or leave health checks out'
    findings.push(invalidAnnotation('health-check-protocol', 'tcp', remedy))
  }
  for (const [annotation, threshold] of [
    ['healthy-threshold', options.healthyThreshold],
    ['unhealthy-threshold', options.unhealthyThreshold],
  ] as const) {
    if (threshold === undefined || threshold === 1) continue
    findings.push(invalidAnnotation(annotation, `${threshold}`, 'must be 1: Caddy goes by the last check alone'))
  }
  if (options.affinity === 'source-ip' && options.clusterWeights !== undefined) {
    const remedy = 'cannot be had together with cluster-weights in Caddy; use cookie'
    findings.push(invalidAnnotation('affinity', 'source-ip', remedy))
  }
  const passive = options.passiveFailures === undefined ? 'passive-seconds' : 'passive-failures'
  const asked = options.passiveFailures ?? options.passiveSeconds ?? 0
  if (asked > 0 && (options.requestBodyLimit ?? 0) > 0) {
    const remedy = 'cannot be had together with request-body-limit in Caddy: what is too large would count as a failure'
    findings.push(invalidAnnotation(passive, `${asked}`, remedy))
  }
  return findings
}
