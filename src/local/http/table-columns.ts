import type { ApiObject } from '../core/api-object.ts'
import { asArray, asRecord, asString } from '../core/json.ts'
import type { PrinterColumn, ResourceType, VersionOfType } from '../core/resource-type.ts'
import { humanDuration } from './human-duration.ts'
import { valuesAt } from './json-path.ts'

export interface TableColumn {
  name: string
  type: string
  format: string
  description: string
  /** Above 0 only with `-o wide`. */
  priority: number
  cell(object: ApiObject, now: number): unknown
}

type Cell = TableColumn['cell']

/** What `kubectl get` shows of a resource: rows of this file, a CRD's own columns, or name and age. */
export function columnsOf(type: ResourceType, version: VersionOfType): TableColumn[] {
  const own = BUILT_IN[`${type.plural}.${type.group}`]
  if (own !== undefined) return own
  const columns = version.columns.map(printerColumn)
  return columns.length > 0 ? [NAME, ...columns] : [NAME, AGE]
}

const column = (name: string, cell: Cell, options: { type?: string; priority?: number } = {}): TableColumn => ({
  name,
  type: options.type ?? 'string',
  format: '',
  description: name,
  priority: options.priority ?? 0,
  cell,
})

const NAME: TableColumn = { ...column('Name', ({ metadata }) => metadata.name), format: 'name' }
const AGE = column('Age', ({ metadata }, now) => age(metadata.creationTimestamp, now))

function age(timestamp: unknown, now: number): string {
  const time = Date.parse(asString(timestamp))
  return Number.isNaN(time) ? '<unknown>' : humanDuration(now - time)
}

function printerColumn({ name, type, format, description, priority, jsonPath }: PrinterColumn): TableColumn {
  return {
    name,
    type,
    format: format ?? '',
    description: description ?? name,
    priority: priority ?? 0,
    cell(object, now) {
      const [value] = valuesAt(object, jsonPath)
      if (value === undefined || value === null) return null
      if (type === 'date') return age(value, now)
      return type === 'string' && typeof value !== 'string' ? JSON.stringify(value) : value
    },
  }
}

const at = (path: string, absent: string): Cell => {
  return (object) => {
    const values = valuesAt(object, path).map(String)
    return values.length === 0 ? absent : values.join(',')
  }
}

const count =
  (field: string): Cell =>
  (object) =>
    Array.isArray(object[field]) ? object[field].length : Object.keys(asRecord(object[field])).length

/** Addresses and host names of a balancer in their order. */
const balancer: Cell = (object) =>
  valuesAt(object, '.status.loadBalancer.ingress[*]')
    .map(asRecord)
    .map((entry) => asString(entry['ip']) || asString(entry['hostname']))
    .filter((address) => address !== '')
    .join(',')

const externalAddress: Cell = (object, now) => {
  const type = valuesAt(object, '.spec.type')[0]
  const external = valuesAt(object, '.spec.externalIPs[*]').map(String)
  if (type === 'ExternalName') return valuesAt(object, '.spec.externalName')[0] ?? '<none>'
  const addresses = [asString(balancer(object, now)), ...external].filter((address) => address !== '').join(',')
  return addresses || (type === 'LoadBalancer' ? '<pending>' : '<none>')
}

const servicePorts: Cell = (object) =>
  valuesAt(object, '.spec.ports[*]')
    .map(asRecord)
    .map(
      ({ port, nodePort, protocol }) => `${port}${nodePort === undefined ? '' : `:${nodePort}`}/${protocol ?? 'TCP'}`,
    )
    .join(',') || '<none>'

const pairs =
  (path: string): Cell =>
  (object) =>
    Object.entries(asRecord(valuesAt(object, path)[0]))
      .map(([key, value]) => `${key}=${value}`)
      .join(',') || '<none>'

const involvedObject: Cell = (event) => {
  const { kind, name } = asRecord(event['involvedObject'])
  return `${asString(kind).toLowerCase()}/${asString(name)}`
}

const lastSeen: Cell = (event, now) =>
  age(event['lastTimestamp'] ?? event['eventTime'] ?? event['firstTimestamp'] ?? event.metadata.creationTimestamp, now)

const nodeStatus: Cell = (node) => {
  const ready = valuesAt(node, '.status.conditions[?(@.type=="Ready")].status')[0]
  const state = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady'
  return asRecord(node['spec'])['unschedulable'] === true ? `${state},SchedulingDisabled` : state
}

const podReady: Cell = (pod) => {
  const states = valuesAt(pod, '.status.containerStatuses[*]').map(asRecord)
  return `${states.filter((state) => state['ready'] === true).length}/${valuesAt(pod, '.spec.containers[*]').length}`
}

const WEBHOOK_COLUMNS = [NAME, column('Webhooks', count('webhooks'), { type: 'integer' }), AGE]

const BUILT_IN: Readonly<Record<string, TableColumn[]>> = {
  'multiclusteringresses.networking.karmada.io': [
    NAME,
    column('Class', at('.spec.ingressClassName', '<none>')),
    column('Address', balancer),
    AGE,
  ],
  'multiclusterservices.networking.karmada.io': [
    NAME,
    column('Types', at('.spec.types[*]', '<none>')),
    column('Address', balancer),
    AGE,
  ],
  'namespaces.': [NAME, column('Status', at('.status.phase', '')), AGE],
  'services.': [
    NAME,
    column('Type', at('.spec.type', 'ClusterIP')),
    column('Cluster-IP', at('.spec.clusterIP', '<none>')),
    column('External-IP', externalAddress),
    column('Port(s)', servicePorts),
    AGE,
    column('Selector', pairs('.spec.selector'), { priority: 1 }),
  ],
  'events.': [
    column('Last Seen', lastSeen),
    column('Type', at('.type', '')),
    column('Reason', at('.reason', '')),
    column('Object', involvedObject),
    column('Source', at('.source.component', ''), { priority: 1 }),
    column('Message', (event) => asString(event['message']).trim()),
    column('First Seen', (event, now) => age(event['firstTimestamp'], now), { priority: 1 }),
    column('Count', (event) => event['count'] ?? 1, { type: 'integer', priority: 1 }),
    { ...NAME, priority: 1 },
  ],
  'secrets.': [NAME, column('Type', at('.type', 'Opaque')), column('Data', count('data'), { type: 'integer' }), AGE],
  'configmaps.': [NAME, column('Data', count('data'), { type: 'integer' }), AGE],
  'pods.': [
    NAME,
    column('Ready', podReady),
    column('Status', at('.status.phase', 'Pending')),
    column('Restarts', (pod) =>
      valuesAt(pod, '.status.containerStatuses[*].restartCount').reduce((sum: number, one) => sum + Number(one), 0),
    ),
    AGE,
    column('Node', at('.spec.nodeName', '<none>'), { priority: 1 }),
  ],
  'nodes.': [
    NAME,
    column('Status', nodeStatus),
    column('Roles', (node) => rolesOf(node).join(',') || '<none>'),
    AGE,
    column('Version', at('.status.nodeInfo.kubeletVersion', '')),
  ],
  'deployments.apps': [
    NAME,
    column('Ready', (deployment) => {
      const { readyReplicas = 0 } = asRecord(deployment['status'])
      return `${readyReplicas}/${asRecord(deployment['spec'])['replicas'] ?? 1}`
    }),
    column('Up-to-date', (deployment) => asRecord(deployment['status'])['updatedReplicas'] ?? 0, { type: 'integer' }),
    column('Available', (deployment) => asRecord(deployment['status'])['availableReplicas'] ?? 0, { type: 'integer' }),
    AGE,
  ],
  'ingressclasses.networking.k8s.io': [
    NAME,
    column('Controller', at('.spec.controller', '')),
    column('Parameters', at('.spec.parameters.name', '<none>')),
    AGE,
  ],
  'endpointslices.discovery.k8s.io': [
    NAME,
    column('AddressType', at('.addressType', '')),
    column('Ports', at('.ports[*].port', '<unset>')),
    column('Endpoints', (slice) => asArray(valuesAt(slice, '.endpoints[*].addresses[*]')).join(',') || '<unset>'),
    AGE,
  ],
  'leases.coordination.k8s.io': [NAME, column('Holder', at('.spec.holderIdentity', '')), AGE],
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': WEBHOOK_COLUMNS,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': WEBHOOK_COLUMNS,
  'customresourcedefinitions.apiextensions.k8s.io': [
    NAME,
    column('Created At', ({ metadata }) => metadata.creationTimestamp ?? '', { type: 'date' }),
  ],
}

function rolesOf({ metadata }: ApiObject): string[] {
  const prefix = 'node-role.kubernetes.io/'
  return Object.keys(metadata.labels ?? {})
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length))
}
