import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import { createProcessLock } from '../adapters/memory/process-lock.ts'
import { isCatalogueError } from '../domain/catalogue-error.ts'
import { exchangePatch, goManagersFinalizerFor, hasFinalizer } from '../domain/finalizers.ts'
import { isBeingDeleted, type KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import { CRD_POLICY_KEY } from '../domain/propagation/crd-propagation-desired.ts'
import type { Flow } from '../flow/flow.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import { listAll } from '../reconcilers/list-all.ts'
import type { Reconciler } from '../reconcilers/reconciler.ts'
import { composeReconcilers } from './compose-reconcilers.ts'
import { kubernetesSource } from './kubernetes-source.ts'
import type { Settings } from './load-settings.ts'

export interface DrainOptions {
  /** Hand the objects to the Go manager instead of removing their balancers. */
  keepBalancers: boolean
  /** Told of each object. */
  report: (line: string) => void
  signal: AbortSignal
}

const BALANCED = ['MultiClusterIngress', 'MultiClusterService'] as const

/**
 * Lets go of every object that we hold: removes the balancer, clears the status and releases the finalizer, then takes
 * away the exports and policies made for them; or, keeping balancers, exchanges our finalizer for the Go manager's. To be
 * run when the webhooks are unregistered and no function runs, or they take the objects back. What is in deletion is
 * cleaned up either way. Answers how many could not be let go of.
 */
export async function drainObjects(settings: Settings, clock: Clock, options: DrainOptions): Promise<{ left: number }> {
  const store = createKubernetesClusterStore(loadKubeConfig(kubernetesSource(settings.config)), {
    timeoutMs: settings.config.kubernetes.timeoutMs,
    clock,
  })
  try {
    return await letGo(store, settings, clock, options)
  } finally {
    await store.close()
  }
}

/** The same over any store. */
export async function letGo(
  store: ClusterStore,
  { config, provider, logger }: Settings,
  clock: Clock,
  { keepBalancers, report, signal }: DrainOptions,
): Promise<{ left: number }> {
  const parts = { config, provider, store, clock, logger, disowned: true }
  const reconcilers = composeReconcilers(parts, createProcessLock(clock))
  let left = 0
  for (const kind of BALANCED) {
    const objects: KubernetesObject[] = await listAll(kind, store, { limit: 500, signal })
    for (const object of objects.filter((candidate) => hasFinalizer(candidate, config.finalizer))) {
      const key = { ...keyOf(kind, object), kind }
      // Nobody can put a new finalizer on what is in deletion, nor does anybody need its balancer.
      const letGoOf =
        keepBalancers && !isBeingDeleted(object)
          ? () => handOver(key, object, config.finalizer, store, signal)
          : () => cleanUp(key, reconcilers[kind], store, signal)
      const { gone, message } = await attempt(letGoOf)
      if (!gone) left += 1
      report(`${formatKey(key)}: ${message}`)
    }
  }
  // The Go manager adopts what brings endpoints to the control plane.
  if (!keepBalancers) left += await letGoOfExports(reconcilers, store, report, signal)
  return { left }
}

/** The policy that takes their definition to the clusters stays as long as anybody's export needs it. */
async function letGoOfExports(
  { ServiceExport: exports, ClusterPropagationPolicy: policy }: Flow['reconcilers'],
  store: ClusterStore,
  report: DrainOptions['report'],
  signal: AbortSignal,
): Promise<number> {
  if (exports === undefined || policy === undefined) return 0
  let left = 0
  const letGoOf = async (key: ObjectKey, reconciler: Reconciler) => {
    const { gone, message } = await attempt(() => cleanUp(key, reconciler, store, signal))
    if (!gone) left += 1
    if (!gone) report(`${formatKey(key)}: ${message}`)
  }
  for (const each of await listExports(store, signal)) await letGoOf(keyOf('ServiceExport', each), exports)
  if ((await listExports(store, signal)).length === 0) await letGoOf(CRD_POLICY_KEY, policy)
  return left
}

async function listExports(store: ClusterStore, signal: AbortSignal): Promise<KubernetesObject[]> {
  try {
    return await listAll('ServiceExport', store, { limit: 500, signal })
  } catch (error) {
    if (isCatalogueError(error, 'KindNotServed')) return []
    throw error
  }
}

interface Result {
  gone: boolean
  message: string
}

async function handOver(
  key: ObjectKey & { kind: (typeof BALANCED)[number] },
  object: KubernetesObject,
  finalizer: string,
  store: ClusterStore,
  signal: AbortSignal,
): Promise<Result> {
  const operations = exchangePatch(object, finalizer, goManagersFinalizerFor(key.kind))
  await store.patch(key, { type: 'json', operations }, { signal })
  return { gone: true, message: 'handed over' }
}

async function cleanUp(
  key: ObjectKey,
  reconciler: Reconciler | undefined,
  store: ClusterStore,
  signal: AbortSignal,
): Promise<Result> {
  const outcome = await reconciler?.reconcile(key, { reader: store, signal })
  const gone = outcome?.kind === 'settled' || outcome?.kind === 'gone'
  const reason = outcome !== undefined && 'reason' in outcome ? outcome.reason : 'unknown'
  return gone ? { gone, message: 'balancer removed, let go' } : { gone, message: `stays: ${reason}` }
}

/** One object that cannot be let go of must not keep the others. */
async function attempt(letGoOf: () => Promise<Result>): Promise<Result> {
  try {
    return await letGoOf()
  } catch (error) {
    if (!isCatalogueError(error)) throw error
    return { gone: false, message: `stays: ${error.message}` }
  }
}
