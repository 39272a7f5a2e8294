import type { Config } from '../../../src/config/config.ts'
import { isCatalogueError } from '../../../src/domain/catalogue-error.ts'
import { addFinalizer } from '../../../src/domain/finalizers.ts'
import type { JsonValue, KubernetesObject } from '../../../src/domain/kubernetes-object.ts'
import type { Node, NodeCondition } from '../../../src/domain/node.ts'
import { formatKey, type ObjectKey } from '../../../src/domain/object-key.ts'
import type { Service } from '../../../src/domain/service.ts'
import type { CallOptions, ClusterStore, ListOptions, Patch, PatchOptions } from '../../../src/ports/cluster-store.ts'
import type { CloudLoadBalancer, CloudProvider, InstancesV2 } from '../../../src/provider/cloud.ts'
import { READY } from '../../support/build-nodes.ts'
import { isClaim } from '../api-network.ts'
import { STEP_INVARIANTS } from '../invariants.ts'
import { ONE_HOLDER } from '../lock-holders.ts'
import { everybodysLock, withoutReleaseGuard } from '../mutations.ts'
import { CLUSTER_END_INVARIANTS } from './cluster-end-checks.ts'
import type { ClusterMutation, ClusterSides } from './cluster-mutation.ts'
import { NODE_INVARIANTS } from './node-invariants.ts'
import { OTHER_CLASS, SERVICE_FINALIZER } from './sim-cluster.ts'
import { CLUSTER_INVARIANTS } from './sim-cluster-world.ts'

/** One safeguard taken out, and the rule that then is broken. */
export interface Mutant extends ClusterMutation {
  breaks: string
}

/** With any of them the simulation has to fail. */
export const CLUSTER_MUTATIONS: Readonly<Record<string, Mutant>> = {
  'no lock': { breaks: ONE_HOLDER, lock: everybodysLock },
  'the balancer before the finalizer': { breaks: STEP_INVARIANTS.owned, wrap: withClaimAfterwards },
  'no guard of the release': { breaks: STEP_INVARIANTS.foreign, wrap: writing(withoutReleaseGuard) },
  'no second look after an ensure': { breaks: STEP_INVARIANTS.readAgain, wrap: withoutSecondLook },
  'Services of another class are ours too': { breaks: CLUSTER_INVARIANTS.another, wrap: writing(blindToClasses) },
  'a node is deleted while it is Ready': { breaks: NODE_INVARIANTS.notReady, wrap: writing(blindToReadiness) },
  'a node is deleted in whatever version': { breaks: NODE_INVARIANTS.notReady, wrap: writing(deletingAny) },
  'a cloud that cannot be asked has no machine': { breaks: NODE_INVARIANTS.machine, wrap: knowingAll },
  'a new node is believed to be gone': { breaks: NODE_INVARIANTS.machine, config: withoutGrace },
  'the taint before the providerID': { breaks: NODE_INVARIANTS.identified, wrap: writing(withoutProviderID) },
  'nodes are written in whatever version': { breaks: NODE_INVARIANTS.foreignNode, wrap: writing(patchingAny) },
  'all routes are ours': { breaks: NODE_INVARIANTS.foreignRoutes, config: ofAllNetworks },
  'balancers that nobody holds are left': { breaks: CLUSTER_END_INVARIANTS.left, config: withoutOrphans },
  'no sweep': { breaks: CLUSTER_END_INVARIANTS.gone, noSweep: true },
}

function writing(store: (honest: ClusterStore) => ClusterStore): (sides: ClusterSides) => ClusterSides {
  return (sides) => ({ ...sides, store: store(sides.store) })
}

/** What was read of each object last: what a program would go by that does not look again. */
function remembering(store: ClusterStore) {
  const seen = new Map<string, KubernetesObject>()
  const note = <T extends KubernetesObject | undefined>(key: ObjectKey, object: T): T => {
    if (object !== undefined) seen.set(formatKey(key), object)
    return object
  }
  const watched: ClusterStore = {
    ...store,
    get: async (key, options) => note(key, await store.get(key, options)),
    patch: async (key, patch, options) => note(key, await store.patch(key, patch, options)),
  }
  return { store: watched, last: (key: ObjectKey) => seen.get(formatKey(key)) }
}

function aroundEnsure(
  cloud: CloudProvider,
  around: (
    ensure: () => ReturnType<CloudLoadBalancer['ensureLoadBalancer']>,
    key: ObjectKey,
  ) => ReturnType<CloudLoadBalancer['ensureLoadBalancer']>,
): CloudProvider {
  const honest = cloud.loadBalancer()
  if (honest === undefined) throw new TypeError('this cloud balances')
  const balancer: CloudLoadBalancer = {
    ...honest,
    ensureLoadBalancer: (cluster, service, nodes, context) =>
      around(() => honest.ensureLoadBalancer(cluster, service, nodes, context), context.identity),
  }
  return { ...cloud, loadBalancer: () => balancer }
}

function withClaimAfterwards({ store: inner, cloud }: ClusterSides): ClusterSides {
  const { store, last } = remembering(inner)
  const owed = new Map<string, () => Promise<unknown>>()
  return {
    store: {
      ...store,
      async patch(key: ObjectKey, patch: Patch, options: PatchOptions) {
        const known = last(key)
        if (!isClaim(patch) || known === undefined) return store.patch(key as never, patch, options)
        const claim: Patch = { type: 'json', operations: addFinalizer(known, SERVICE_FINALIZER) }
        owed.set(formatKey(key), () => store.patch(key as never, claim, options))
        const finalizers = [...(known.metadata.finalizers ?? []), SERVICE_FINALIZER]
        return { ...known, metadata: { ...known.metadata, finalizers } }
      },
    } as ClusterStore,
    cloud: aroundEnsure(cloud, async (ensure, key) => {
      const result = await ensure()
      await owed.get(formatKey(key))?.()
      owed.delete(formatKey(key))
      return result
    }),
  }
}

function withoutSecondLook({ store: inner, cloud }: ClusterSides): ClusterSides {
  const { store, last } = remembering(inner)
  const ensured = new Set<string>()
  return {
    store: {
      ...store,
      async get(key: ObjectKey, options: CallOptions) {
        return ensured.delete(formatKey(key)) ? last(key) : store.get(key as never, options)
      },
      async patch(key: ObjectKey, patch: Patch, options: PatchOptions) {
        const known = last(key)
        if (!ensured.delete(formatKey(key)) || known === undefined) return store.patch(key as never, patch, options)
        try {
          return await store.patch(key as never, patch, options)
        } catch (error) {
          if (isCatalogueError(error, 'Conflict') || isCatalogueError(error, 'NotFound')) return known
          throw error
        }
      },
    } as ClusterStore,
    cloud: aroundEnsure(cloud, async (ensure, key) => {
      const result = await ensure()
      ensured.add(formatKey(key))
      return result
    }),
  }
}

/** Each object as it is read, seen with other eyes. */
function seeing(store: ClusterStore, kind: string, seen: (object: KubernetesObject) => KubernetesObject): ClusterStore {
  return {
    ...store,
    async get(key: ObjectKey, options: CallOptions) {
      const object = await store.get(key as never, options)
      return object === undefined || key.kind !== kind ? object : seen(object as KubernetesObject)
    },
    async list(of: string, options: ListOptions) {
      const list = await store.list(of as never, options)
      return of === kind ? { ...list, items: (list.items as KubernetesObject[]).map(seen) } : list
    },
  } as ClusterStore
}

function blindToClasses(store: ClusterStore): ClusterStore {
  return seeing(store, 'Service', (object) => {
    const { spec, ...service } = object as Service
    const { loadBalancerClass, ...rest } = spec ?? {}
    return loadBalancerClass === OTHER_CLASS ? ({ ...service, spec: rest } as Service) : object
  })
}

/** Nobody is Ready, and what was read as Ready is written back as it was. */
function blindToReadiness(store: ClusterStore): ClusterStore {
  const isReady = ({ type, status }: NodeCondition) => type === 'Ready' && status === 'True'
  const change = (conditions: readonly NodeCondition[], from: NodeCondition, to: NodeCondition) =>
    conditions.map((one) => (one.type === 'Ready' && one.status === from.status ? to : one))
  const unseen = { type: 'Ready', status: 'Unseen' }
  const blind = seeing(store, 'Node', (object) => {
    const node = object as Node
    const { conditions = [] } = node.status ?? {}
    if (!conditions.some(isReady)) return object
    return { ...node, status: { ...node.status, conditions: change(conditions, READY, unseen) } } as Node
  })
  return {
    ...blind,
    patch(key, patch, options) {
      const body = patch.type === 'merge' ? (patch.body as { status?: { conditions?: NodeCondition[] } }) : {}
      const conditions = body.status?.conditions
      if (conditions === undefined) return store.patch(key, patch, options)
      const status = { ...body.status, conditions: change(conditions, unseen, READY) }
      return store.patch(key, { type: 'merge', body: { ...body, status } as unknown as JsonValue }, options)
    },
  }
}

function deletingAny(store: ClusterStore): ClusterStore {
  return {
    ...store,
    async delete(key, options) {
      const current = await store.get(key, options)
      const { uid = '', resourceVersion = '' } = current?.metadata ?? {}
      await store.delete(key, { ...options, preconditions: { uid, resourceVersion } })
    },
  }
}

function patchingAny(store: ClusterStore): ClusterStore {
  return {
    ...store,
    patch(key, patch, options) {
      const isWhole = key.kind === 'Node' && patch.type === 'merge'
      return store.patch(key, isWhole ? { ...patch, body: withoutVersion(patch.body) } : patch, options)
    },
  }
}

function withoutVersion(body: JsonValue): JsonValue {
  const { metadata, ...rest } = body as { metadata?: { [key: string]: JsonValue } } & { [key: string]: JsonValue }
  const { resourceVersion: _, uid: __, ...own } = metadata ?? {}
  return { ...rest, metadata: own }
}

function withoutProviderID(store: ClusterStore): ClusterStore {
  return {
    ...store,
    patch(key, patch, options) {
      const body = patch.type === 'merge' ? (patch.body as { spec?: { providerID?: string; taints?: JsonValue } }) : {}
      if (body.spec?.taints === undefined || body.spec.providerID === undefined) return store.patch(key, patch, options)
      const { providerID: _, ...spec } = body.spec
      return store.patch(key, { type: 'merge', body: { ...body, spec } as JsonValue }, options)
    },
  }
}

function knowingAll({ store, cloud }: ClusterSides): ClusterSides {
  const honest = cloud.instancesV2?.()
  if (honest === undefined) return { store, cloud }
  const instances: InstancesV2 = {
    ...honest,
    instanceExists: (node, context) => honest.instanceExists(node, context).catch(() => false),
  }
  return { store, cloud: { ...cloud, instancesV2: () => instances } }
}

function withoutOrphans(config: Config): Config {
  return { ...config, orphans: { remove: false } }
}

function withoutGrace(config: Config): Config {
  return { ...config, cloud: { ...config.cloud, nodes: { ...config.cloud.nodes, newNodeGraceMs: 0 } } }
}

function ofAllNetworks(config: Config): Config {
  return { ...config, cloud: { ...config.cloud, clusterCidr: '0.0.0.0/0,::/0' } }
}
