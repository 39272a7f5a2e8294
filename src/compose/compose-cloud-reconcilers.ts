import { sha256 } from '../adapters/system/sha256.ts'
import type { Flow } from '../flow/flow.ts'
import type { Lock } from '../ports/lock.ts'
import type { CloudLoadBalancer, CloudProvider } from '../provider/cloud.ts'
import { createEventRecorder } from '../reconcilers/event-recorder.ts'
import { createServiceReconciler } from '../reconcilers/service/service-reconciler.ts'
import { balancerAbilities } from './balancer-abilities.ts'
import { controllerStates } from './cloud-controllers.ts'
import { composeNodeReconcilers } from './compose-node-reconcilers.ts'
import { consistencyWindow } from './consistency-window.ts'
import type { ReconcilerParts } from './reconciler-parts.ts'
import { UNMEASURED } from './unmeasured.ts'

/** The controllers of one cluster's cloud, those that are configured and that the cloud can do. */
export function composeCloudReconcilers(cloud: CloudProvider, parts: ReconcilerParts, lock: Lock): Flow['reconcilers'] {
  const { config, store, logger, stop = NEVER } = parts
  cloud.initialize({ client: () => store }, stop)
  const states = controllerStates(cloud, config)
  for (const [controller, state] of Object.entries(states)) {
    if (!state.runs) logger.warn({ controller, reason: state.reason }, 'controller not started')
  }
  if (!cloud.hasClusterID()) logger.warn({ provider: cloud.providerName() }, 'the cloud is not marked with the cluster')
  const loadBalancer = states['service-lb-controller'].runs ? cloud.loadBalancer() : undefined
  return {
    ...(loadBalancer !== undefined && { Service: composeService(loadBalancer, parts, lock) }),
    ...composeNodeReconcilers(cloud, states, parts, lock),
  }
}

const NEVER = new AbortController().signal

function composeService(loadBalancer: CloudLoadBalancer, parts: ReconcilerParts, lock: Lock) {
  const { config, store, clock, logger, metrics = UNMEASURED, disowned = false } = parts
  const { clusterName, loadBalancerClass } = config.cloud
  return createServiceReconciler({
    loadBalancer,
    abilities: balancerAbilities(loadBalancer),
    clusterName,
    loadBalancerClass,
    store,
    lock,
    digest: sha256,
    recorder: createEventRecorder({ writer: store, clock, digest: sha256, logger, component: 'service-controller' }),
    logger,
    metrics,
    clock,
    clusterId: config.clusterId,
    disowned,
    removeOrphans: config.orphans.remove,
    consistencyWindowMs: consistencyWindow(loadBalancer.consistencyWindowMs, parts),
    providerDeadlineMs: config.work.providerDeadlineMs,
  })
}
