import { loadKubeConfig } from '../adapters/kubernetes/kube-config.ts'
import { createKubernetesClusterStore } from '../adapters/kubernetes/kubernetes-cluster-store.ts'
import type { Clock } from '../ports/clock.ts'
import type { ClusterStore } from '../ports/cluster-store.ts'
import type { ServerClock } from '../ports/server-clock.ts'
import { composeReconcilers } from './compose-reconcilers.ts'
import { type ConfiguredLock, createLock } from './create-lock.ts'
import type { Drain, DrainOptions } from './drain.ts'
import { hindrancesToDrain } from './hindrances-to-drain.ts'
import { kubernetesSource } from './kubernetes-source.ts'
import { heldObjects, letGoOfBalancers } from './let-go-of-balancers.ts'
import { letGoOfPropagation } from './let-go-of-propagation.ts'
import type { Settings } from './load-settings.ts'
import { servedCloud } from './served-cloud.ts'

export interface DrainResult {
  /** Objects that could not be let go of; run again. */
  left: number
  /** What would take back what is let go of: unless it is a dry run, nothing was touched. */
  hindrances: string[]
}

/** `letGo` on the API server that the configuration names. */
export async function drainObjects(settings: Settings, clock: Clock, options: DrainOptions): Promise<DrainResult> {
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

/**
 * Lets go of every object that we hold, so that nothing of ours is left when the function is uninstalled:
 *
 * - on Karmada: balancers, statuses and finalizers of MultiClusterIngresses and MultiClusterServices, then ServiceExports
 *   and policies that nobody else needs; keeping balancers, our finalizer is exchanged for the Go manager's instead, which
 *   then keeps exports and policies too
 * - under one cluster: balancers, statuses and finalizers of Services; nodes and routes stay as they are
 * - Leases, once nothing else is left
 *
 * What is in deletion is cleaned up either way. Refuses while webhooks or a running function would take objects back. It
 * may be interrupted and run again.
 */
export async function letGo(
  store: ClusterStore & Partial<ServerClock>,
  settings: Settings,
  clock: Clock,
  options: DrainOptions,
): Promise<DrainResult> {
  const locking = lockFor(store, settings, clock)
  const hindrances = await hindrancesToDrain(store, settings, locking, options)
  if (hindrances.length > 0 && !options.dryRun) return { left: 0, hindrances }
  const reconcilers = composeReconcilers({ ...settings, store, clock, disowned: true }, locking.lock)
  const drain: Drain = { ...settings, ...options, store, reconcilers }
  let left = await letGoOfBalancers(drain)
  const isKarmada = servedCloud(settings.config, settings.provider) === undefined
  if (isKarmada && !options.keepBalancers) left += await letGoOfPropagation(drain, left)
  left += await takenBack(drain, left)
  if (left === 0) await letGoOfLeases(locking, options)
  return { left, hindrances }
}

/** The lock that the function has: what is noted on Leases about balancers that may still come counts here too. */
function lockFor(store: ClusterStore & Partial<ServerClock>, settings: Settings, clock: Clock): ConfiguredLock {
  const serverNow = store.serverNow ?? clock.now
  // Whoever is abandoned is come by anyway.
  const queue = { add: async () => {} }
  return createLock({ ...settings, store, serverClock: { serverNow }, clock, queue })
}

/** A function that is idle cannot be seen, only what it does. */
async function takenBack(drain: Drain, left: number): Promise<number> {
  const { keepBalancers, dryRun, report } = drain
  const isKarmada = servedCloud(drain.config, drain.provider) === undefined
  if (dryRun || (keepBalancers && !isKarmada)) return 0
  const back = (await heldObjects(drain)).length - left
  if (back <= 0) return 0
  report(`${back} objects were taken back meanwhile: a function still runs; stop it`)
  return back
}

async function letGoOfLeases(locking: ConfiguredLock, { dryRun, report, signal }: DrainOptions): Promise<void> {
  if (dryRun) return
  const removed = await locking.removeAll(signal)
  if (removed > 0) report(`Leases: ${removed} removed`)
}
