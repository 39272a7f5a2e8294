import type { Finding } from '../finding.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import { ANNOTATION_PREFIX, BALANCER_ANNOTATIONS } from './balancer-annotations.ts'
import type { BalancerOptions } from './balancer-options.ts'

export interface ParsedOptions {
  /** Without those that have a fault. */
  options: BalancerOptions
  findings: Finding[]
}

/** The annotations under our prefix as typed options; a misspelt one is a fault, not a silence. */
export function parseBalancerOptions({ metadata }: KubernetesObject): ParsedOptions {
  const given = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith(ANNOTATION_PREFIX))
  const options: Record<string, unknown> = {}
  const findings: Finding[] = []
  for (const [key, text] of given) {
    const short = key.slice(ANNOTATION_PREFIX.length)
    const annotation = Object.hasOwn(BALANCER_ANNOTATIONS, short) ? BALANCER_ANNOTATIONS[short] : undefined
    if (annotation === undefined) findings.push(unknownAnnotation(key))
    else {
      const parsed = annotation.parse(text.trim())
      if ('fault' in parsed) findings.push(invalidAnnotation(key, text, parsed.fault))
      else options[annotation.option] = parsed.value
    }
  }
  // Each row of the table parses to the type of its option.
  const typed = options as BalancerOptions
  return { options: typed, findings: [...findings, ...crossFindings(typed)] }
}

/** What no single annotation shows. */
function crossFindings(options: BalancerOptions): Finding[] {
  const { healthCheckTimeoutSeconds: timeout, healthCheckIntervalSeconds: interval, tlsPassthrough } = options
  const findings: Finding[] = []
  if (timeout !== undefined && interval !== undefined && timeout > interval) {
    findings.push(
      invalidAnnotation(under('health-check-timeout'), String(timeout), `must not exceed the interval (${interval})`),
    )
  }
  if (tlsPassthrough === true && options.certificate !== undefined) {
    findings.push(invalidAnnotation(under('certificate'), options.certificate, 'has no use with tls-passthrough'))
  }
  if (options.sharedId !== undefined && options.internal === true) {
    findings.push(invalidAnnotation(under('shared-id'), options.sharedId, 'an internal balancer cannot be shared'))
  }
  const both = options.tlsPorts?.find((port) => options.httpPorts?.includes(port))
  if (both !== undefined) {
    findings.push(invalidAnnotation(under('tls-ports'), options.tlsPorts?.join() ?? '', `${both} is an HTTP port too`))
  }
  return findings
}

function under(short: string): string {
  return `${ANNOTATION_PREFIX}${short}`
}

function unknownAnnotation(key: string): Finding {
  const message = `Unsupported value: ${JSON.stringify(key)}: no such annotation; check the spelling`
  return { field: `metadata.annotations[${key}]`, reason: 'FieldValueNotSupported', message }
}

function invalidAnnotation(key: string, text: string, fault: string): Finding {
  const message = `Invalid value: ${JSON.stringify(text)}: ${fault}`
  return { field: `metadata.annotations[${key}]`, reason: 'FieldValueInvalid', message }
}
