import type { Clock } from '../../ports/clock.ts'
import { type AdmissionChain, admitEverything } from './admission-chain.ts'
import type { ApiObject } from './api-object.ts'
import { storageKey } from './api-object.ts'
import { createAppliedFields } from './applied-fields.ts'
import { createBackgroundTasks } from './background-tasks.ts'
import { collectGarbage } from './collect-garbage.ts'
import type { CoreEnvironment, RequestTarget, WriteOptions, Written } from './core-environment.ts'
import { createObject } from './create-object.ts'
import { type Deleted, type DeleteOptions, deleteObject } from './delete-object.ts'
import { emptyNamespaces } from './empty-namespaces.ts'
import { type ApiList, type ListQuery, listObjects } from './list-objects.ts'
import { trackLocations } from './object-locations.ts'
import { createObjectStore } from './object-store.ts'
import { type PatchRequest, patchObject } from './patch-object.ts'
import { preloadObjects } from './preload-objects.ts'
import { resolveTarget, type Verb } from './resolve-target.ts'
import { createResourceRegistry, type ServedResource } from './resource-registry.ts'
import { inVersion, type ResourceType } from './resource-type.ts'
import { serveCustomResources } from './serve-custom-resources.ts'
import { notFound, StatusError } from './status-error.ts'
import { replacing, updateObject } from './update-object.ts'
import { type Watcher, type WatchQuery, watchObjects } from './watch-objects.ts'

export interface ControlPlaneCoreOptions {
  clock: Clock
  /** A new uid for every object. */
  uid(): string
  /** Five characters that follow a generateName. */
  nameSuffix(): string
  /** CustomResourceDefinitions to serve from the start. */
  definitions?: readonly ApiObject[]
  /** Namespaces beside `default`, `kube-system`, `kube-public` and `kube-node-lease`. */
  namespaces?: readonly string[]
  /** Asks the webhooks; without it nothing is asked. */
  admission?: (core: ControlPlaneCore) => AdmissionChain
  /** Changes a resource that can be told again to watchers and pages. */
  historyLimit?: number
}

/** A Kubernetes API in memory. Every failure is a `StatusError`; everything handed out is read-only. */
export interface ControlPlaneCore {
  get(target: RequestTarget): ApiObject
  list(target: RequestTarget, query?: ListQuery): ApiList
  /** Returns what ends the watch. Events arrive within the write that causes them. */
  watch(target: RequestTarget, query: WatchQuery, watcher: Watcher): () => void
  create(target: RequestTarget, object: unknown, options: WriteOptions): Promise<Written>
  replace(target: RequestTarget, object: unknown, options: WriteOptions): Promise<Written>
  patch(target: RequestTarget, patch: PatchRequest, options: WriteOptions): Promise<Written>
  delete(target: RequestTarget, options: DeleteOptions): Promise<Deleted>
  deleteCollection(target: RequestTarget, query: ListQuery, options: DeleteOptions): Promise<ApiList>
  /** Puts objects in as they are, status and deletionTimestamp included, without admission. */
  preload(objects: Iterable<ApiObject>): void
  resources(): ResourceType[]
  /** What a path leads to; throws the 404 of a path nobody serves. */
  resource(target: RequestTarget): ServedResource
  resourceVersion(): string
  /** Forgets the history: continue tokens and watches of older resourceVersions end with 410. */
  compact(): void
  /** Until the controllers (garbage collection, namespaces, CRDs) have nothing left to do. */
  idle(): Promise<void>
}

const FIRST_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease']

export function createControlPlaneCore(options: ControlPlaneCoreOptions): ControlPlaneCore {
  const environment: CoreEnvironment = {
    store: createObjectStore(options.historyLimit ?? 10_000),
    registry: createResourceRegistry(),
    clock: options.clock,
    uid: options.uid,
    nameSuffix: options.nameSuffix,
    allocate: createCounters(),
    admission: admitEverything,
    applied: createAppliedFields(),
    background: createBackgroundTasks(),
  }
  const { store, registry, background } = environment
  serveCustomResources(environment)
  collectGarbage(environment, trackLocations(store))
  emptyNamespaces(environment)

  const resolve = (target: RequestTarget, verb: Verb) => resolveTarget(environment, target, verb)
  const core: ControlPlaneCore = {
    get(target) {
      const { type, version, collection, namespace, name } = resolve(target, 'get')
      const object = store.get(collection, storageKey(namespace, name))
      if (object === undefined) throw notFound(type, name)
      return inVersion(object, type, version.name)
    },
    list: (target, query = {}) => listObjects(environment, resolve(target, 'list'), query),
    watch: (target, query, watcher) => watchObjects(environment, resolve(target, 'watch'), query, watcher),
    create: async (target, object, write) => createObject(environment, resolve(target, 'create'), object, write),
    async replace(target, object, write) {
      const resolved = resolve(target, 'update')
      return updateObject(environment, resolved, replacing(object, resolved), write)
    },
    patch: async (target, patch, write) => patchObject(environment, resolve(target, 'patch'), patch, write),
    delete: async (target, write) => deleteObject(environment, resolve(target, 'delete'), write),
    async deleteCollection(target, query, write) {
      const resolved = resolve(target, 'deletecollection')
      const found = listObjects(environment, resolved, query)
      for (const { metadata } of found.items) {
        const one = { ...resolved, namespace: metadata.namespace ?? '', name: metadata.name }
        await deleteObject(environment, one, { ...write, unnamed: true }).catch(ignoreNotFound)
      }
      return found
    },
    preload: (objects) => preloadObjects(environment, objects),
    resources: () => registry.all(),
    resource: ({ group, version, plural }) => registry.find(group, version, plural),
    resourceVersion: () => String(store.revision()),
    compact: () => store.compact(),
    idle: () => background.idle(),
  }
  core.preload([...FIRST_NAMESPACES, ...(options.namespaces ?? [])].map(namespaceNamed))
  core.preload(options.definitions ?? [])
  if (options.admission !== undefined) environment.admission = options.admission(core)
  return core
}

function namespaceNamed(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

function createCounters(): (purpose: string) => number {
  const counters = new Map<string, number>()
  return (purpose) => {
    const next = (counters.get(purpose) ?? 0) + 1
    counters.set(purpose, next)
    return next
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof StatusError && error.status.code === 404)) throw error
}
