import { hasFinalizer, otherProvidersFinalizer } from '../../domain/finalizers.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { ReconcilePass, Reconciler } from '../reconciler.ts'
import { withLock } from '../with-lock.ts'
import { withTurn } from '../with-turn.ts'
import { applyBalancer, reportFaults, reportHold } from './apply-balancer.ts'
import type { BalancedKind, BalancedResource } from './balanced-resource.ts'
import { askProvider, type BalancerDependencies, type BalancerPass } from './balancer-pass.ts'
import type { BalancerSnapshot } from './balancer-snapshot.ts'
import { statusPatch } from './computed-status.ts'
import { type BalancerDecision, decideBalancer } from './decide-balancer.ts'
import { gatherBalancer } from './gather-balancer.ts'
import { publishStatus } from './publish-status.ts'
import { type OrphanPass, removeFormer, sweepOrphans } from './remove-orphans.ts'

/** gather → decide → apply for one kind. Only a decision that writes takes the lock. */
export function createBalancerReconciler<K extends BalancedKind>(
  resource: BalancedResource<K>,
  dependencies: BalancerDependencies,
): Reconciler {
  const passFor = (key: ObjectKey, signal: AbortSignal): BalancerPass<K> => ({
    ...dependencies,
    resource,
    key: { ...key, kind: resource.kind },
    signal,
    fence: '',
  })
  return {
    async reconcile(key: ObjectKey, { reader, signal, ...told }: ReconcilePass): Promise<Outcome> {
      const { formerUids = [], isVerificationDue = never } = told
      const pass = passFor(key, signal)
      const snapshot = await gatherBalancer(pass, reader, isVerificationDue)
      const former = formerUids.filter((uid) => uid !== snapshot?.object.metadata.uid)
      if (former.length > 0) await removeFormer(former, orphanPass(pass))
      if (snapshot === undefined) return { kind: 'gone' }
      const decision = decideBalancer(snapshot)
      const outcome = await carryOut(decision, snapshot, pass)
      return isFinal(outcome) ? rememberPools(snapshot, outcome, pass) : outcome
    },
    sweepOrphans: ({ signal }) =>
      sweepOrphans(
        orphanPass(passFor({ kind: resource.kind, namespace: '', name: '*' }, signal)),
        dependencies.removeOrphans,
      ),
  }
}

function orphanPass<K extends BalancedKind>(pass: BalancerPass<K>): OrphanPass {
  const { resource, logger, clusterId, finalizer, store } = pass
  const list = resource.calls?.list
  return {
    ...pass,
    async mayHaveBalancer(object, signal) {
      if (hasFinalizer(object, finalizer) || otherProvidersFinalizer(object, finalizer) !== undefined) return true
      if (isBeingDeleted(object)) return false
      return (await resource.ownershipOf(object as ObjectOfKind[K], store, signal)).kind !== 'another'
    },
    list: list && ((signal) => list({ signal, logger, clusterId })),
    remove: (uid, turn) =>
      askProvider({ ...pass, ...turn, key: { ...turn.key, kind: resource.kind } }, { uid }, (calls, context) =>
        calls.ensureDeleted(undefined, context),
      ),
  }
}

const never = () => false

async function carryOut<K extends BalancedKind>(
  decision: BalancerDecision,
  snapshot: BalancerSnapshot<ObjectOfKind[K]>,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  switch (decision.do) {
    case 'nothing':
      return publishForOthers(snapshot, decision.reason, pass)
    case 'settled':
      return { kind: 'settled' }
    case 'hold':
      return reportHold(pass, snapshot.object, decision.reason)
    case 'refuse':
      return reportFaults(pass, snapshot.object, decision.reason)
    default:
      return withLock(pass.lock, pass.key, pass.signal, (held) =>
        applyBalancer(decision, snapshot, withTurn(pass, held)),
      )
  }
}

/** Where the Services of an object run, for whoever serves it; nothing unless that is wanted. */
async function publishForOthers<K extends BalancedKind>(
  { object, inputs }: BalancerSnapshot<ObjectOfKind[K]>,
  reason: string,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  const ignored: Outcome = { kind: 'ignored', reason }
  if (statusPatch(object.status, inputs.status) === undefined) return ignored
  return withLock(pass.lock, pass.key, pass.signal, async (held) => {
    await publishStatus(object, inputs.status, withTurn(pass, held))
    return ignored
  })
}

function isFinal({ kind }: Outcome): boolean {
  return kind === 'settled' || kind === 'gone'
}

/** What serves now is what the next pass must not lose; a held pool is looked at again when its time is up. */
function rememberPools<K extends BalancedKind>(
  { object, inputs }: BalancerSnapshot<ObjectOfKind[K]>,
  outcome: Outcome,
  { pools, key }: BalancerPass<K>,
): Outcome {
  if (outcome.kind === 'gone') {
    pools.forget(key)
    return outcome
  }
  pools.remember(key, object.metadata.uid ?? '', inputs.memory)
  if (inputs.lookAgainMs === undefined) return outcome
  return { kind: 'later', afterMs: inputs.lookAgainMs, reason: 'endpoints vanished; their pools are held for a while' }
}
