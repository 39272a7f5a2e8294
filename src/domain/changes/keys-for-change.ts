import { sameJson } from '../canonical-json.ts'
import { isUnderTrafficControl } from '../cluster.ts'
import type { ClusterEvent, Operation } from '../cluster-event.ts'
import { isDefaultClass } from '../ingress-class.ts'
import { type Kind, kindOf, type ObjectOfKind } from '../kinds.ts'
import { isBeingDeleted, type KubernetesObject } from '../kubernetes-object.ts'
import { changesNode, changesRoutes, changesSelection, changesTargets } from '../nodes/node-changes.ts'
import { BACKENDS_KEY, ROUTES_KEY } from '../nodes/node-keys.ts'
import type { ObjectKey } from '../object-key.ts'
import { CRD_POLICY_NAME } from '../propagation/crd-propagation-desired.ts'
import { serviceOfPolicy } from '../propagation/policy-name.ts'
import { asksSomethingElse, isRelevantChange, type OurMarks } from '../relevance.ts'
import { clustersOfRemedy } from '../remedy.ts'
import { boundService, clustersOfBinding } from '../resource-binding.ts'
import { serviceOfSlice } from '../slice-service.ts'
import type { Lookup } from './lookup.ts'
import { concernsBalancer } from './service-changes.ts'

/** What to look up, and after how long once more for what follows from the change later. */
export interface ChangeLookups {
  lookups: Lookup[]
  againMs?: number
}

/** An event of one kind. Without `before` and `after` only a name is known. */
interface Change<T extends KubernetesObject = KubernetesObject> {
  operation: Operation
  namespace: string
  name: string
  before: T | undefined
  after: T | undefined
  byUs: boolean
}

interface Row<T extends KubernetesObject> {
  /**
   * Asked of updates of which both states are known; everything else is relevant. Absent for what we balance: there
   * our finalizer matters too.
   */
  changed?(before: T, after: T): boolean
  find(change: Change<T>): Lookup[]
  /** Our own writes of these are not worth a look. */
  written?: true
  againMs?: number
}

// karmada-controller-manager turns a Remedy into Cluster.status.remedyActions within seconds.
const REMEDY_SETTLES_MS = 5_000

/**
 * | object | an update counts if | keys |
 * |---|---|---|
 * | Service | annotations, spec or deletion changed | ingresses and MultiClusterService of it; its export |
 * | EndpointSlice | always, with the service-name label | ingresses and MultiClusterService of its Service |
 * | Secret | data, or what stands for it, changed | ingresses that use it |
 * | ResourceBinding of a v1 Service | the union of its clusters changed | ingresses and MultiClusterService of the Service; its export |
 * | Cluster | TrafficControl is not what status says | objects in it; the CRD's policy when it comes or goes |
 * | Remedy | its spec changed | objects in its clusters, now and a little later |
 * | IngressClass | controller or default mark changed | ingresses of it, or without class |
 * | ServiceExport, PropagationPolicy | somebody else changed or deleted it | the export of its Service |
 * | ClusterPropagationPolicy of the CRD | likewise | itself |
 * | Node | what its initialisation, life, routes or balancers depend on changed; no heartbeat | itself, unless we wrote it; the routes; the backends |
 *
 * MultiClusterIngress and MultiClusterService are keys themselves; the exports that they need are looked up when they are
 * worked on, so that a forged event costs one read.
 */
const ROWS: { readonly [K in Kind]?: Row<ObjectOfKind[K]> } = {
  Service: {
    changed: asksSomethingElse,
    find: ({ namespace, name }) => usersOfService(namespace, name, 'and its export'),
  },
  EndpointSlice: {
    changed: () => true,
    find: ({ namespace, name, before, after }) =>
      before === undefined && after === undefined
        ? [{ find: 'servicesInSliceName', namespace, slice: name }]
        : distinct([before && serviceOfSlice(before), after && serviceOfSlice(after)]).flatMap((service) =>
            usersOfService(namespace, service),
          ),
  },
  Secret: {
    changed: (before, after) =>
      !sameJson([before.type, before.data], [after.type, after.data]) ||
      (after.data === undefined && before.metadata.resourceVersion !== after.metadata.resourceVersion),
    find: ({ namespace, name }) => [{ find: 'ingressesOfSecret', namespace, secret: name }],
  },
  ResourceBinding: {
    changed: (before, after) =>
      !sameJson(
        [boundService(before), clustersOfBinding(before), isBeingDeleted(before)],
        [boundService(after), clustersOfBinding(after), isBeingDeleted(after)],
      ),
    find: ({ namespace, name, before, after }) =>
      before === undefined && after === undefined
        ? servicesOfBindingName(name).flatMap((service) => usersOfService(namespace, service, 'and its export'))
        : distinct([before && boundService(before)?.name, after && boundService(after)?.name]).flatMap((service) =>
            usersOfService(namespace, service, 'and its export'),
          ),
  },
  Cluster: {
    changed: (before, after) =>
      isUnderTrafficControl(before) !== isUnderTrafficControl(after) ||
      isBeingDeleted(before) !== isBeingDeleted(after),
    find: ({ operation, name, after }) => [
      after === undefined
        ? { find: 'inClusters', clusters: [name] }
        : { find: 'otherTrafficControl', cluster: name, blocked: isUnderTrafficControl(after) },
      ...(operation !== 'UPDATE' || (after !== undefined && isBeingDeleted(after)) ? [CRD_POLICY] : []),
    ],
  },
  Remedy: {
    changed: asksSomethingElse,
    find: ({ before, after }) => {
      const known = [before, after].filter((remedy) => remedy !== undefined).map(clustersOfRemedy)
      const isAll = known.length === 0 || known.includes('all')
      return [{ find: 'inClusters', clusters: isAll ? 'all' : [...new Set(known.flat())].sort() }]
    },
    againMs: REMEDY_SETTLES_MS,
  },
  IngressClass: {
    changed: (before, after) =>
      !sameJson([before.spec?.controller, isDefaultClass(before)], [after.spec?.controller, isDefaultClass(after)]) ||
      isBeingDeleted(before) !== isBeingDeleted(after),
    find: ({ name, before, after }) => {
      const known = [before, after].filter((state) => state !== undefined)
      return [{ find: 'ingressesOfClass', name, orDefault: known.length === 0 || known.some(isDefaultClass) }]
    },
  },
  ServiceExport: {
    changed: (before, after) =>
      !sameJson(before.metadata.ownerReferences, after.metadata.ownerReferences) || isBeingDeleted(after),
    find: ({ operation, namespace, name }) => (operation === 'CREATE' ? [] : [exportOf(namespace, name)]),
    written: true,
  },
  PropagationPolicy: {
    changed: (before, after) =>
      asksSomethingElse(before, after) || !sameJson(before.metadata.ownerReferences, after.metadata.ownerReferences),
    find: ({ operation, namespace, name, before, after }) =>
      operation === 'CREATE'
        ? []
        : distinct([serviceOfPolicy(before ?? after, name)]).map((service) => exportOf(namespace, service)),
    written: true,
  },
  ClusterPropagationPolicy: {
    changed: (before, after) =>
      asksSomethingElse(before, after) || !sameJson(before.metadata.labels, after.metadata.labels),
    find: ({ operation, name }) => (operation === 'CREATE' || name !== CRD_POLICY_NAME ? [] : [CRD_POLICY]),
    written: true,
  },
  Node: {
    changed: changesNode,
    find: ({ operation, name, before, after, byUs }) => {
      const isOver = (changes: typeof changesNode) =>
        operation !== 'UPDATE' || before === undefined || after === undefined || changes(before, after)
      return [
        ...(byUs ? [] : [itself('Node', '', name)]),
        ...(isOver(changesRoutes) ? [ROUTES] : []),
        // Our own labels pass no review; the sweep finds who selects by them.
        ...(isOver(changesTargets) || (!byUs && isOver(changesSelection)) ? [BACKENDS] : []),
      ]
    },
  },
  MultiClusterIngress: {
    find: ({ namespace, name }) => [itself('MultiClusterIngress', namespace, name)],
  },
  MultiClusterService: {
    find: ({ namespace, name }) => [itself('MultiClusterService', namespace, name)],
  },
}

/**
 * What an event concerns, by the table above. Reads nothing and never throws: an object that is not shaped as its kind
 * comes from somebody who makes things up, and counts as not known.
 */
export function lookupsForChange(event: ClusterEvent, marks: OurMarks): ChangeLookups {
  const kind = kindOf(event.group, event.kind)
  const row = kind === undefined ? undefined : (ROWS[kind] as Row<KubernetesObject> | undefined)
  if (row === undefined || event.name === '') return { lookups: [] }
  if (kind === 'Service' && marks.services !== undefined) return servedServiceLookups(event, marks)
  const change: Change = {
    operation: event.operation,
    namespace: event.namespace,
    name: event.name,
    before: event.oldObject,
    after: event.object,
    byUs: marks.identity !== undefined && event.username === marks.identity,
  }
  try {
    return isRelevant(change, row, event, marks) ? found(row, change) : { lookups: [] }
  } catch {
    return found(row, { ...change, before: undefined, after: undefined })
  }
}

/** On a plain cluster a Service is a key itself, and nobody else's. */
function servedServiceLookups(event: ClusterEvent, marks: OurMarks): ChangeLookups {
  return { lookups: concernsBalancer(event, marks) ? [itself('Service', event.namespace, event.name)] : [] }
}

function isRelevant(
  { operation, before, after, byUs }: Change,
  row: Row<KubernetesObject>,
  event: ClusterEvent,
  marks: OurMarks,
): boolean {
  if (byUs && row.written === true) return false
  if (row.changed === undefined) return isRelevantChange(event, marks)
  return operation !== 'UPDATE' || before === undefined || after === undefined || row.changed(before, after)
}

function found(row: Row<KubernetesObject>, change: Change): ChangeLookups {
  const lookups = row.find(change)
  return { lookups, ...(row.againMs === undefined || lookups.length === 0 ? {} : { againMs: row.againMs }) }
}

const CRD_POLICY: Lookup = {
  find: 'key',
  key: { kind: 'ClusterPropagationPolicy', namespace: '', name: CRD_POLICY_NAME },
}

const ROUTES: Lookup = { find: 'key', key: ROUTES_KEY }
const BACKENDS: Lookup = { find: 'key', key: BACKENDS_KEY }

function itself(kind: ObjectKey['kind'], namespace: string, name: string): Lookup {
  return { find: 'key', key: { kind, namespace, name } }
}

/** An export has the name of its Service, and is reconciled under its own key: whoever uses the Service is not concerned. */
function exportOf(namespace: string, service: string): Lookup {
  return itself('ServiceExport', namespace, service)
}

function usersOfService(namespace: string, service: string, also?: 'and its export'): Lookup[] {
  return [
    { find: 'ingressesOfService', namespace, service },
    { find: 'serviceOfName', namespace, name: service },
    ...(also === undefined ? [] : [exportOf(namespace, service)]),
  ]
}

/** Karmada names the binding of Service `web` `web-service`; another kind may be behind it, which costs a read. */
function servicesOfBindingName(name: string): string[] {
  return name.endsWith('-service') ? [name.slice(0, -'-service'.length)] : []
}

function distinct(names: readonly (string | undefined)[]): string[] {
  return [...new Set(names.filter((name) => name !== undefined))].filter((name) => name !== '')
}
