import { invalidAnnotation, parseAnnotations } from '../balancer-annotations/parse-annotations.ts'
import type { Finding } from '../finding.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import { BALANCER_ANNOTATIONS } from './balancer-annotations.ts'
import type { BalancerOptions } from './balancer-options.ts'

export interface ParsedOptions {
  /** Without those that have a fault. */
  options: BalancerOptions
  findings: Finding[]
}

/** What a Service asks for by its annotations. */
export function parseBalancerOptions(service: KubernetesObject): ParsedOptions {
  const { options, findings } = parseAnnotations(service, BALANCER_ANNOTATIONS)
  return { options, findings: [...findings, ...crossFindings(options)] }
}

/** What no single annotation shows. */
function crossFindings(options: BalancerOptions): Finding[] {
  const { healthCheckTimeoutSeconds: timeout, healthCheckIntervalSeconds: interval, tlsPassthrough } = options
  const findings: Finding[] = []
  if (timeout !== undefined && interval !== undefined && timeout > interval) {
    findings.push(
      invalidAnnotation('health-check-timeout', String(timeout), `must not exceed the interval (${interval})`),
    )
  }
  if (tlsPassthrough === true && options.certificate !== undefined) {
    findings.push(invalidAnnotation('certificate', options.certificate, 'has no use with tls-passthrough'))
  }
  if (options.sharedId !== undefined && options.internal === true) {
    findings.push(invalidAnnotation('shared-id', options.sharedId, 'an internal balancer cannot be shared'))
  }
  const both = options.tlsPorts?.find((port) => options.httpPorts?.includes(port))
  if (both !== undefined) {
    findings.push(invalidAnnotation('tls-ports', options.tlsPorts?.join() ?? '', `${both} is an HTTP port too`))
  }
  return findings
}
