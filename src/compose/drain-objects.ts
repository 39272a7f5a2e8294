import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import { isCatalogueError } from '../domain/catalogue-error.ts'
import { exchangePatch, goManagersFinalizerFor, hasFinalizer } from '../domain/finalizers.ts'
import { isBeingDeleted, type KubernetesObject } from '../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../domain/object-key.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { ServerClock } from '../ports/server-clock.ts'
import { listAll } from '../reconcilers/list-all.ts'
import type { Reconciler } from '../reconcilers/reconciler.ts'
import { composeReconcilers } from './compose-reconcilers.ts'
import { createLock } from './create-lock.ts'
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
 * Lets go of every object that we hold: removes the balancer, clears the status and releases the finalizer, or, keeping
 * balancers, exchanges our finalizer for the Go manager's. To be run when the webhooks are unregistered and no function
 * runs, or they take the objects back. What is in deletion is cleaned up either way. Answers how many could not be let go of.
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

/** The same over any store. The lock is the function's own, for what it has noted there of creates holds here too. */
export async function letGo(
  store: ClusterStore & Partial<ServerClock>,
  { config, provider, logger }: Settings,
  clock: Clock,
  { keepBalancers, report, signal }: DrainOptions,
): Promise<{ left: number }> {
  const parts = { config, provider, store, clock, logger, disowned: true }
  const serverClock = { serverNow: store.serverNow ?? clock.now }
  const { lock } = createLock({ ...parts, serverClock, queue: { add: async () => {} } })
  const reconcilers = composeReconcilers(parts, lock)
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
  return { left }
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
