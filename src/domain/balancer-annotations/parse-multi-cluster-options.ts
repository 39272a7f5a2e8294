import type { Finding } from '../finding.ts'
import { parseIpAddress } from '../ip-address.ts'
import type { KubernetesObject } from '../kubernetes-object.ts'
import { MULTI_CLUSTER_ANNOTATIONS } from './multi-cluster-annotations.ts'
import type { MultiClusterKind, MultiClusterOptions } from './multi-cluster-options.ts'
import { ANNOTATION_PREFIX, invalidAnnotation, type ParsedAnnotations, parseAnnotations } from './parse-annotations.ts'

/** What an object of this kind asks for by its annotations. Whoever finds any fault leaves the balancer as it is. */
export function parseMultiClusterOptions(
  object: KubernetesObject,
  kind: MultiClusterKind,
): ParsedAnnotations<MultiClusterOptions> {
  const { options, findings } = parseAnnotations(object, MULTI_CLUSTER_ANNOTATIONS)
  return { options, findings: [...findings, ...misplaced(object, kind), ...crossFindings(options, kind)] }
}

function misplaced({ metadata }: KubernetesObject, kind: MultiClusterKind): Finding[] {
  return Object.entries(MULTI_CLUSTER_ANNOTATIONS)
    .filter(
      ([short, { kinds }]) => !kinds.includes(kind) && metadata.annotations?.[ANNOTATION_PREFIX + short] !== undefined,
    )
    .map(([short]) => ({
      field: `metadata.annotations[${ANNOTATION_PREFIX}${short}]`,
      reason: 'FieldValueForbidden',
      message: `Forbidden: has no meaning for a ${kind}`,
    }))
}

/** What no single annotation shows. */
function crossFindings(options: MultiClusterOptions, kind: MultiClusterKind): Finding[] {
  const { healthCheckTimeoutSeconds: timeout, healthCheckIntervalSeconds: interval = 5 } = options
  const findings: Finding[] = []
  if (timeout !== undefined && timeout > interval) {
    findings.push(invalidAnnotation('health-check-timeout', `${timeout}`, `must not exceed the interval (${interval})`))
  }
  if (options.healthCheckPath !== undefined && options.healthCheckProtocol === 'tcp') {
    findings.push(invalidAnnotation('health-check-path', options.healthCheckPath, 'has no use with protocol tcp'))
  }
  if (options.redirectStatus !== undefined && options.redirectHttpToHttps !== true) {
    const fault = 'has no use without redirect-http-to-https'
    findings.push(invalidAnnotation('redirect-status', options.redirectStatus, fault))
  }
  if (kind === 'MultiClusterService' && options.affinity === 'cookie') {
    findings.push(invalidAnnotation('affinity', 'cookie', 'must be none or source-ip: cookies are of layer 7'))
  }
  return [...findings, ...addressFindings(options)]
}

function addressFindings({ staticIps = [], ipFamilies }: MultiClusterOptions): Finding[] {
  const families = staticIps.map((ip) => parseIpAddress(ip)?.family)
  const text = staticIps.join()
  if (new Set(families).size < families.length) {
    return [invalidAnnotation('static-ip', text, 'must not be two addresses of one family')]
  }
  const foreign = families.find(
    (family) => family !== undefined && ipFamilies !== undefined && !ipFamilies.includes(family),
  )
  return foreign === undefined ? [] : [invalidAnnotation('static-ip', text, `${foreign} is not in ip-families`)]
}
