import type { ApiObject } from './api-object.ts'
import { asArray, asRecord, asString, type JsonRecord } from './json.ts'
import type { Allocate } from './resource-type.ts'
import type { FieldError } from './status-error.ts'

const INSIDE_THE_CLUSTER = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy']

/** The defaults and allocations of a core/v1 Service that a cloud provider looks at. */
export function prepareService(service: ApiObject, old: ApiObject | undefined, allocate: Allocate): ApiObject {
  const given = asRecord(service['spec'])
  const before = asRecord(old?.['spec'])
  const type = asString(given['type']) || 'ClusterIP'
  const onNodes = type === 'NodePort' || (type === 'LoadBalancer' && given['allocateLoadBalancerNodePorts'] !== false)
  const spec: JsonRecord = { ...given, type, sessionAffinity: given['sessionAffinity'] ?? 'None' }
  if (type !== 'ExternalName') {
    spec['clusterIP'] = given['clusterIP'] || before['clusterIP'] || address(allocate('clusterIP'))
    spec['clusterIPs'] = [spec['clusterIP']]
    spec['ipFamilies'] ??= ['IPv4']
    spec['ipFamilyPolicy'] ??= 'SingleStack'
    spec['internalTrafficPolicy'] ??= 'Cluster'
  } else {
    for (const field of INSIDE_THE_CLUSTER) delete spec[field]
  }
  if (type === 'LoadBalancer') spec['allocateLoadBalancerNodePorts'] ??= true
  else delete spec['allocateLoadBalancerNodePorts']
  if (type === 'LoadBalancer' || type === 'NodePort') spec['externalTrafficPolicy'] ??= 'Cluster'
  else delete spec['externalTrafficPolicy']
  const checksHealth = type === 'LoadBalancer' && spec['externalTrafficPolicy'] === 'Local'
  if (!checksHealth) delete spec['healthCheckNodePort']
  else spec['healthCheckNodePort'] ??= before['healthCheckNodePort'] ?? nodePort(allocate)
  if (given['ports'] !== undefined) {
    const oldPorts = asArray(before['ports']).map(asRecord)
    spec['ports'] = asArray(given['ports']).map((port) => preparePort(asRecord(port), oldPorts, onNodes, allocate))
  }
  return { ...service, spec, status: statusFor(type, service['status']) }
}

/** A Service that is no longer a LoadBalancer has no balancer to tell of. */
function statusFor(type: string, status: unknown): unknown {
  if (type === 'LoadBalancer') return status ?? { loadBalancer: {} }
  return { ...asRecord(status), loadBalancer: {} }
}

/** An address is a VIP unless somebody says otherwise. */
export function prepareServiceStatus(service: ApiObject): ApiObject {
  const status = asRecord(service['status'])
  const loadBalancer = asRecord(status['loadBalancer'])
  if (loadBalancer['ingress'] === undefined) return service
  const ingress = asArray(loadBalancer['ingress'])
    .map(asRecord)
    .map((entry) => (entry['ip'] === undefined ? entry : { ...entry, ipMode: entry['ipMode'] ?? 'VIP' }))
  return { ...service, status: { ...status, loadBalancer: { ...loadBalancer, ingress } } }
}

function preparePort(port: JsonRecord, oldPorts: JsonRecord[], onNodes: boolean, allocate: Allocate): JsonRecord {
  const result: JsonRecord = { ...port, targetPort: port['targetPort'] ?? port['port'] }
  if (!onNodes) delete result['nodePort']
  else if (result['nodePort'] === undefined || result['nodePort'] === 0) {
    const same = oldPorts.find((old) => old['port'] === port['port'] && old['protocol'] === port['protocol'])
    result['nodePort'] = same?.['nodePort'] ?? nodePort(allocate)
  }
  return result
}

function nodePort(allocate: Allocate): number {
  return 30000 + (allocate('nodePort') % 2768)
}

function address(count: number): string {
  return `10.96.${Math.floor(count / 254) % 256}.${(count % 254) + 1}`
}

export function validateService(service: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = asRecord(service['spec'])
  const before = asRecord(old?.['spec'])
  const ports = asArray(spec['ports']).map(asRecord)
  const errors: FieldError[] = []
  if (ports.length === 0 && spec['type'] !== 'ExternalName' && spec['clusterIP'] !== 'None') {
    errors.push({ field: 'spec.ports', reason: 'FieldValueRequired', message: 'Required value' })
  }
  for (const [index, port] of ports.entries()) {
    const number = port['port']
    if (typeof number === 'number' && (number < 1 || number > 65535)) {
      const message = `Invalid value: ${number}: must be between 1 and 65535, inclusive`
      errors.push({ field: `spec.ports[${index}].port`, reason: 'FieldValueInvalid', message })
    }
    if (ports.length > 1 && port['name'] === undefined) {
      errors.push({ field: `spec.ports[${index}].name`, reason: 'FieldValueRequired', message: 'Required value' })
    }
  }
  const stays = old !== undefined && before['type'] === 'LoadBalancer' && spec['type'] === 'LoadBalancer'
  if (stays && before['loadBalancerClass'] !== spec['loadBalancerClass']) {
    const message = `Invalid value: ${JSON.stringify(spec['loadBalancerClass'] ?? null)}: may not change once set`
    errors.push({ field: 'spec.loadBalancerClass', reason: 'FieldValueInvalid', message })
  }
  return errors
}
