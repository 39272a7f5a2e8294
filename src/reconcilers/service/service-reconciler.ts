import { CatalogueError } from '../../domain/catalogue-error.ts'
import { hasFinalizer } from '../../domain/finalizers.ts'
import type { Finding } from '../../domain/finding.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { Service } from '../../domain/service.ts'
import { isOfAnotherClass, SERVICE_FINALIZER, standingOf } from '../../domain/service-balancer/service-standing.ts'
import { type OrphanPass, removeFormer, sweepOrphans } from '../load-balancer/remove-orphans.ts'
import type { ReconcilePass, Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { withTurn } from '../with-turn.ts'
import { cleanUpService } from './clean-up-service.ts'
import { decideService } from './decide-service.ts'
import { gatherService } from './gather-service.ts'
import { serveService } from './serve-service.ts'
import { SERVICE_METRICS } from './service-metrics.ts'
import { askCloud, type HeldServicePass, type ServiceDependencies, type ServicePass } from './service-pass.ts'
import type { ServiceSnapshot } from './service-snapshot.ts'
import { tellFailure } from './tell-service.ts'

/** gather → decide → apply for Services of type LoadBalancer. Only a decision that writes takes the lock. */
export function createServiceReconciler(dependencies: ServiceDependencies): Reconciler {
  const passFor = (
    { namespace, name }: ObjectKey,
    signal: AbortSignal,
    isVerificationDue = (_uid: string) => false,
  ): ServicePass => ({
    ...dependencies,
    key: { kind: 'Service', namespace, name },
    signal,
    fence: '',
    isVerificationDue,
  })
  return {
    async reconcile(
      key: ObjectKey,
      { reader, signal, formerUids = [], isVerificationDue }: ReconcilePass,
    ): Promise<Outcome> {
      const pass = passFor(key, signal, isVerificationDue)
      const snapshot = await gatherService(pass, reader)
      const former = formerUids.filter((uid) => uid !== snapshot?.service.metadata.uid)
      if (former.length > 0) await removeFormer(former, orphanPass(pass))
      return snapshot === undefined ? { kind: 'gone' } : carryOut(snapshot, pass)
    },
    sweepOrphans: ({ signal, isHeld }) =>
      sweepOrphans(orphanPass(passFor({ kind: 'Service', namespace: '', name: '*' }, signal)), {
        remove: dependencies.removeOrphans,
        isHeld,
      }),
  }
}

/** What only reads is done at once; what writes is read and decided once more when nobody else can write. */
async function carryOut(snapshot: ServiceSnapshot, pass: ServicePass): Promise<Outcome> {
  const decision = decideService(snapshot)
  if (decision.do !== 'nothing') pass.metrics.count(SERVICE_METRICS.syncs.name)
  switch (decision.do) {
    case 'nothing':
      return { kind: 'ignored', reason: decision.reason }
    case 'settled':
      return { kind: 'settled' }
    case 'refuse':
      return refuse(snapshot.service, decision.faults, pass)
    default: {
      const started = pass.clock.now()
      const outcome = await withLock(pass.lock, pass.key, pass.signal, (held) =>
        applyFresh(snapshot, withTurn(pass, held)),
      )
      if (decision.do === 'serve' && decision.call === 'update') {
        pass.metrics.observe(SERVICE_METRICS.nodeSync.name, (pass.clock.now() - started) / 1000)
      }
      return outcome
    }
  }
}

/** The set of nodes may be another one by now, and a slow pass must not bring back an older one (C-69). */
async function applyFresh(earlier: ServiceSnapshot, pass: HeldServicePass): Promise<Outcome> {
  const snapshot = await gatherService(pass, pass.store, earlier)
  if (snapshot === undefined) return { kind: 'later', afterMs: 0, reason: 'it went before its turn' }
  const decision = decideService(snapshot)
  switch (decision.do) {
    case 'nothing':
      return { kind: 'ignored', reason: decision.reason }
    case 'settled':
      return { kind: 'settled' }
    case 'refuse':
      return refuse(snapshot.service, decision.faults, pass)
    case 'serve':
      return serveService(decision, snapshot.service, pass)
    case 'cleanUp':
      return cleanUpService(snapshot.service, pass)
  }
}

/** Told to the owner; tried again when the Service changes, and by the sweep. */
async function refuse(service: Service, faults: readonly Finding[], pass: ServicePass): Promise<Outcome> {
  const message = faults.map((fault) => `${fault.field}: ${fault.message}`).join('; ')
  const error = new CatalogueError('ProviderTerminal', message, { object: pass.key, cause: new Error(message) })
  await tellFailure(service, 'failed to ensure load balancer', error, pass)
  return { kind: 'failed', error }
}

function orphanPass(pass: ServicePass): OrphanPass {
  const { loadBalancer, logger, clusterId, clusterName } = pass
  return {
    ...pass,
    async mayHaveBalancer(object) {
      if (hasFinalizer(object, SERVICE_FINALIZER) || isOfAnotherClass(object, pass.loadBalancerClass)) return true
      return standingOf(object, pass.loadBalancerClass).kind === 'serve'
    },
    list:
      loadBalancer.listLoadBalancers &&
      (async (signal) => loadBalancer.listLoadBalancers?.(clusterName, { signal, logger, clusterId }) ?? []),
    remove: (uid, turn) =>
      askCloud({ ...pass, ...turn, key: { ...turn.key, kind: 'Service' } }, { uid, options: {} }, (cloud, context) =>
        cloud.ensureLoadBalancerDeleted(clusterName, undefined, context),
      ),
  }
}
