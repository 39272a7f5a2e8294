import { createProcessMemories } from '../adapters/memory/process-memories.ts'
import { sha256 } from '../adapters/system/sha256.ts'
import type { Config } from '../config/config.ts'
import { parseCidr } from '../domain/cidr.ts'
import type { Flow } from '../flow/flow.ts'
import { UNTRACED } from '../flow/untraced.ts'
import type { Lock } from '../ports/lock.ts'
import { createEventRecorder } from '../reconcilers/event-recorder.ts'
import type { BackendSettings } from '../reconcilers/load-balancer/backend-settings.ts'
import type { BalancerDependencies } from '../reconcilers/load-balancer/balancer-pass.ts'
import { createMultiClusterIngressReconciler } from '../reconcilers/multi-cluster-ingress/multi-cluster-ingress-reconciler.ts'
import { createMultiClusterServiceReconciler } from '../reconcilers/multi-cluster-service/multi-cluster-service-reconciler.ts'
import { createServiceExportReconciler } from '../reconcilers/service-export/service-export-reconciler.ts'
import { createServiceExportCrdReconciler } from '../reconcilers/service-export-crd/service-export-crd-reconciler.ts'
import { createClaimedHosts } from './claimed-hosts.ts'
import { composeCloudReconcilers } from './compose-cloud-reconcilers.ts'
import { consistencyWindow } from './consistency-window.ts'
import type { ReconcilerParts } from './reconciler-parts.ts'
import { servedCloud } from './served-cloud.ts'

// Objects of which it is remembered how they were settled: some 20 MB.
const SETTLED = 50_000

/** One reconciler a kind. */
export function composeReconcilers(parts: ReconcilerParts, lock: Lock): Flow['reconcilers'] {
  const { config, provider, store, clock, disowned = false } = parts
  const cloud = servedCloud(config, provider)
  if (cloud !== undefined) return composeCloudReconcilers(cloud, parts, lock)
  const { ingressClass, multiClusterServices, finalizer, takeOver } = config
  const dependencies = balancerDependencies(parts, lock)
  const { recorder } = dependencies
  const backends = backendSettings(config)
  const ingress = { ...ingressClass, backends, claimedHosts: createClaimedHosts(store, { finalizer, clock }) }
  const service = { ...multiClusterServices, backends }
  const exports = { ...ingressClass, ...multiClusterServices, finalizer, digest: sha256, disowned }
  return {
    MultiClusterIngress: createMultiClusterIngressReconciler(provider.loadBalancer, ingress, dependencies),
    MultiClusterService: createMultiClusterServiceReconciler(provider.mcsLoadBalancer, service, dependencies),
    ...(config.propagation.enabled && {
      ServiceExport: createServiceExportReconciler(exports, {
        store,
        lock,
        recorder,
        settled: createProcessMemories(SETTLED),
      }),
      ClusterPropagationPolicy: createServiceExportCrdReconciler({ takeOver }, { store, lock }),
    }),
  }
}

function balancerDependencies(parts: ReconcilerParts, lock: Lock): BalancerDependencies {
  const { config, provider, store, clock, logger, tracer = UNTRACED, disowned = false } = parts
  const { clusterId, finalizer, takeOver } = config
  return {
    store,
    lock,
    digest: sha256,
    recorder: createEventRecorder({ writer: store, clock, digest: sha256, logger, component: finalizer }),
    logger,
    tracer,
    clusterId,
    finalizer,
    takeOver,
    disowned,
    removeOrphans: config.orphans.remove,
    consistencyWindowMs: consistencyWindow(provider.consistencyWindowMs, parts),
    clock,
    // Ingresses of one Service have the same pools.
    pools: createProcessMemories(10_000, { shared: true }),
    settled: createProcessMemories(SETTLED),
    poolGraceMs: config.backends.graceMs,
    providerDeadlineMs: config.work.providerDeadlineMs,
  }
}

function backendSettings({ backends }: Config): BackendSettings {
  return {
    networks: backends.networks?.flatMap((network) => parseCidr(network) ?? []),
    failOpen: backends.failOpen,
  }
}
