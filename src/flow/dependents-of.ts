import { type Lookup, listsForLookup } from '../domain/changes/lookup.ts'
import { matchLookup } from '../domain/changes/match-lookup.ts'
import { isUnderTrafficControl } from '../domain/cluster.ts'
import type { Kind, ObjectOfKind } from '../domain/kinds.ts'
import { isBeingDeleted } from '../domain/kubernetes-object.ts'
import { isBackends } from '../domain/nodes/node-keys.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import { referencedServices } from '../domain/referenced-services.ts'
import { clustersOfRemedy } from '../domain/remedy.ts'
import { parseBalancerOptions } from '../domain/service-balancer/parse-balancer-options.ts'
import { serviceOfSlice } from '../domain/slice-service.ts'
import type { ClusterReader } from '../ports/cluster-store.ts'
import { listAll } from '../reconcilers/list-all.ts'

/** A key to queue, now or a while later. */
export interface Dependent {
  key: ObjectKey
  afterMs: number
  /** As if it had changed itself: what depends on it in turn is to be looked at too. */
  changed: boolean
}

/**
 * The keys that depend on what this key names, found in the world as it is now.
 *
 * | key | dependents |
 * |---|---|
 * | Service | ingresses that send traffic to it, the MultiClusterService of its name |
 * | EndpointSlice | its Service; when it is gone, all that its name may be of |
 * | Secret | ingresses that use it |
 * | IngressClass | ingresses of it, and those without a class, as if they had changed: with the owner go the exports |
 * | Cluster | objects in it whose status says otherwise of TrafficControl; when it is gone, all in it |
 * | Remedy | objects in its clusters, and, once Karmada has acted on it, those clusters |
 * | all nodes, as backends | Services of type LoadBalancer; where only labels differ, those that select nodes |
 * | MultiClusterIngress, MultiClusterService that itself changed | the exports of its Services, those of its last pass included |
 */
export async function dependentsOf(
  key: ObjectKey,
  changed: boolean,
  reader: ClusterReader,
  signal: AbortSignal,
  difference: 'hosts' | 'labels' = 'hosts',
): Promise<Dependent[]> {
  const { lookups, clustersLater = [] } = isBackends(key)
    ? { lookups: await balancedServices(difference, reader, signal) }
    : await lookupsOf(key, changed, reader, signal)
  const found = await Promise.all(lookups.map((lookup) => look(lookup, reader, signal)))
  const keys = new Map(found.flat().map((dependent) => [formatKey(dependent), dependent]))
  return [
    ...[...keys.values()].map((dependent) => ({ key: dependent, afterMs: 0, changed: key.kind === 'IngressClass' })),
    ...clustersLater.map((name) => ({ key: clusterKey(name), afterMs: REMEDY_SETTLES_MS, changed: false })),
  ]
}

// karmada-controller-manager turns a Remedy into Cluster.status.remedyActions within seconds.
const REMEDY_SETTLES_MS = 5_000

interface Lookups {
  lookups: Lookup[]
  clustersLater?: string[]
}

async function lookupsOf(
  key: ObjectKey,
  changed: boolean,
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Lookups> {
  const { kind, namespace, name } = key
  switch (kind) {
    case 'Service':
      return {
        lookups: [
          { find: 'ingressesOfService', namespace, service: name },
          { find: 'serviceOfName', namespace, name },
        ],
      }
    case 'EndpointSlice': {
      const slice = await reader.get({ kind, namespace, name }, { signal })
      const service = slice && serviceOfSlice(slice)
      if (service !== undefined)
        return { lookups: [{ find: 'key', key: { kind: 'Service', namespace, name: service } }] }
      return { lookups: slice === undefined ? [{ find: 'servicesInSliceName', namespace, slice: name }] : [] }
    }
    case 'Secret':
      return { lookups: [{ find: 'ingressesOfSecret', namespace, secret: name }] }
    case 'IngressClass':
      return { lookups: [{ find: 'ingressesOfClass', name, orDefault: true }] }
    case 'Cluster': {
      const cluster = await reader.get({ kind, namespace, name }, { signal })
      if (cluster === undefined) return { lookups: [{ find: 'inClusters', clusters: [name] }] }
      return { lookups: [{ find: 'otherTrafficControl', cluster: name, blocked: isUnderTrafficControl(cluster) }] }
    }
    case 'Remedy':
      return remedyLookups(key, reader, signal)
    case 'MultiClusterIngress':
      return { lookups: changed ? await exportsOfIngress({ namespace, name }, reader, signal) : [] }
    case 'MultiClusterService':
      return { lookups: changed ? [exportOf(namespace, name)] : [] }
    default:
      return { lookups: [] }
  }
}

/** Each looks for itself whether its hosts are others now (R-SVC-24). */
async function balancedServices(
  difference: 'hosts' | 'labels',
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Lookup[]> {
  const services = await listAll('Service', reader, { limit: 500, signal })
  return services
    .filter((service) => service.spec?.type === 'LoadBalancer' && !isBeingDeleted(service))
    .filter((service) => difference === 'hosts' || parseBalancerOptions(service).options.nodeSelector !== undefined)
    .map((service) => ({ find: 'key', key: keyOf('Service', service) }))
}

async function remedyLookups({ name }: ObjectKey, reader: ClusterReader, signal: AbortSignal): Promise<Lookups> {
  const remedy = await reader.get({ kind: 'Remedy', namespace: '', name }, { signal })
  const clusters = remedy === undefined ? 'all' : clustersOfRemedy(remedy)
  const clustersLater =
    clusters === 'all'
      ? (await listAll('Cluster', reader, { signal })).map(({ metadata }) => metadata.name)
      : [...clusters]
  return { lookups: [{ find: 'inClusters', clusters }], clustersLater }
}

async function exportsOfIngress(
  { namespace, name }: { namespace: string; name: string },
  reader: ClusterReader,
  signal: AbortSignal,
): Promise<Lookup[]> {
  const ingress = await reader.get({ kind: 'MultiClusterIngress', namespace, name }, { signal })
  if (ingress === undefined) {
    const exports = await listAll('ServiceExport', reader, { namespace, limit: 500, signal })
    return exports.map(({ metadata }) => exportOf(namespace, metadata.name))
  }
  const earlier = (ingress.status?.serviceLocations ?? []).map((location) => location.name)
  return [...new Set([...referencedServices(ingress), ...earlier])].map((service) => exportOf(namespace, service))
}

function exportOf(namespace: string, name: string): Lookup {
  return { find: 'key', key: { kind: 'ServiceExport', namespace, name } }
}

async function look(lookup: Lookup, reader: ClusterReader, signal: AbortSignal): Promise<ObjectKey[]> {
  if (lookup.find === 'serviceOfName') {
    const key = { kind: 'MultiClusterService', namespace: lookup.namespace, name: lookup.name } as const
    const service = await reader.get(key, { signal })
    return service === undefined ? [] : [keyOf('MultiClusterService', service)]
  }
  const { kinds, namespace } = listsForLookup(lookup)
  const scope = { ...(namespace === undefined ? {} : { namespace }), limit: 500, signal }
  const list = <K extends Kind>(kind: K): Promise<ObjectOfKind[K][]> =>
    kinds.includes(kind) ? listAll(kind, reader, scope) : Promise.resolve([])
  const [ingresses, services, bindings] = await Promise.all([
    list('MultiClusterIngress'),
    list('MultiClusterService'),
    list('ResourceBinding'),
  ])
  return matchLookup(lookup, { ingresses, services, ...(kinds.includes('ResourceBinding') ? { bindings } : {}) })
}

function clusterKey(name: string): ObjectKey {
  return { kind: 'Cluster', namespace: '', name }
}
