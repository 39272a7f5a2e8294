import { hasFinalizer, otherProvidersFinalizer } from '../../domain/finalizers.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { OrphanSweep, ReconcilePass, Reconciler } from '../reconciler.ts'
import { createVersionsRead, type VersionsRead } from '../versions-read.ts'
import { withLock } from '../with-lock.ts'
import { withTurn } from '../with-turn.ts'
import { applyBalancer, reportFaults, reportHold } from './apply-balancer.ts'
import type { BalancedKind, BalancedResource, Surroundings } from './balanced-resource.ts'
import { askProvider, type BalancerDependencies, type BalancerPass, type HeldPass } from './balancer-pass.ts'
import type { BalancerLook, BalancerSnapshot } from './balancer-snapshot.ts'
import { statusPatch } from './computed-status.ts'
import { decideBalancer } from './decide-balancer.ts'
import { gatherBalancer, isWriteCertain, lookAtBalancer, readRecord, readSurroundings } from './gather-balancer.ts'
import { publishStatus } from './publish-status.ts'
import { type OrphanPass, removeFormer, sweepOrphans } from './remove-orphans.ts'
import { isSettledStill, rememberSettled, worldRead } from './settled-still.ts'
import { createSweepingBalancers } from './sweeping-balancers.ts'

/** look → gather → decide → apply for one kind. Only what writes takes the lock. */
export function createBalancerReconciler<K extends BalancedKind>(
  resource: BalancedResource<K>,
  dependencies: BalancerDependencies,
): Reconciler {
  const { kind } = resource
  const passFor = (key: ObjectKey, signal: AbortSignal, isVerificationDue = (_uid: string) => false) => ({
    ...dependencies,
    resource,
    key: { ...key, kind },
    signal,
    fence: '',
    isVerificationDue,
  })
  const reconcile = async (
    key: ObjectKey,
    { reader, signal, formerUids = [], isVerificationDue }: ReconcilePass,
    assumed?: BalancerPass<K>['assumed'],
  ): Promise<Outcome> => {
    const pass: BalancerPass<K> = { ...passFor(key, signal, isVerificationDue), ...(assumed && { assumed }) }
    const read = createVersionsRead(reader)
    const look = await lookAt(pass, read.reader)
    const former = formerUids.filter((uid) => uid !== look?.object.metadata.uid)
    if (former.length > 0) await removeFormer(former, orphanPass(pass))
    if (look === undefined) return { kind: 'gone' }
    if (isWriteCertain(look)) return applyFresh(look, pass)
    const outcome = await findOut(look, pass, read)
    return outcome ?? reconcile(key, { reader, signal, ...(isVerificationDue && { isVerificationDue }) })
  }
  const sweepAllOrphans = ({ signal, isHeld }: OrphanSweep) =>
    sweepOrphans(orphanPass(passFor({ kind, namespace: '', name: '*' }, signal)), {
      remove: dependencies.removeOrphans,
      isHeld,
    })
  return {
    reconcile: (key, pass) => reconcile(key, pass),
    sweepOrphans: sweepAllOrphans,
    inSweep: (sweep) =>
      createSweepingBalancers(sweep, resource, dependencies, { reconcile, sweepOrphans: sweepAllOrphans }),
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

function lookAt<K extends BalancedKind>(
  pass: BalancerPass<K>,
  reader: ClusterReader,
  earlier?: BalancerLook<ObjectOfKind[K]>,
): Promise<BalancerLook<ObjectOfKind[K]> | undefined> {
  return pass.tracer.step({ name: 'look' }, () => lookAtBalancer(pass, reader, earlier))
}

/**
 * What was read tells whether the world is as when nothing had to be done; only then nothing is made of it. Undefined when
 * what is only assumed would have something done.
 */
async function findOut<K extends BalancedKind>(
  look: BalancerLook<ObjectOfKind[K]>,
  pass: BalancerPass<K>,
  read: VersionsRead,
): Promise<Outcome | undefined> {
  const surroundings = await surroundingsOf(look, pass, read.reader)
  const world = worldRead(read, surroundings, pass)
  if (isSettledStill(look, world, pass)) return { kind: 'settled' }
  const snapshot = await gatherBalancer(look, surroundings, pass, read.reader)
  const isAssumed = pass.assumed !== undefined && (look.isListed || surroundings !== undefined)
  if (isAssumed && !isAsRecorded(snapshot)) return undefined
  const outcome = await carryOut(snapshot, pass)
  if (outcome.kind === 'settled') rememberSettled(snapshot, world, pass)
  return outcome
}

/** Nothing is to be done, but to verify what is there. */
function isAsRecorded<K extends BalancedKind>(snapshot: BalancerSnapshot<ObjectOfKind[K]>): boolean {
  return decideBalancer({ ...snapshot, verify: false }).do === 'settled'
}

function surroundingsOf<K extends BalancedKind>(
  look: BalancerLook<ObjectOfKind[K]>,
  pass: BalancerPass<K>,
  reader: ClusterReader,
): Promise<Surroundings | undefined> {
  return pass.tracer.step({ name: 'gather' }, () => readSurroundings(look, pass, reader))
}

async function gather<K extends BalancedKind>(
  look: BalancerLook<ObjectOfKind[K]>,
  pass: BalancerPass<K>,
  reader: ClusterReader,
): Promise<BalancerSnapshot<ObjectOfKind[K]>> {
  return gatherBalancer(look, await surroundingsOf(look, pass, reader), pass, reader)
}

/** What only reads is done at once. */
async function carryOut<K extends BalancedKind>(
  snapshot: BalancerSnapshot<ObjectOfKind[K]>,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  const decision = decideBalancer(snapshot)
  switch (decision.do) {
    case 'nothing':
      return publishForOthers(snapshot, decision.reason, pass)
    case 'settled':
      return rememberPools(snapshot, { kind: 'settled' }, pass)
    case 'hold':
      return reportHold(pass, snapshot.object, decision.reason)
    case 'refuse':
      return reportFaults(pass, snapshot.object, decision.reason)
    case 'cleanUp':
      // In deletion nothing else can come of it; and whose an object is that stays is asked again before it is let go.
      return isBeingDeleted(snapshot.object)
        ? underLock(pass, (turn) => apply(decision, snapshot, turn))
        : applyFresh(undefined, pass)
    case 'serve':
      return applyFresh(snapshot, pass)
  }
}

/** What writes is read and decided once more when nobody else can write: the world of before may be over. */
function applyFresh<K extends BalancedKind>(
  earlier: BalancerLook<ObjectOfKind[K]> | BalancerSnapshot<ObjectOfKind[K]> | undefined,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  return underLock(pass, async (turn) => {
    const look = await lookAt(turn, turn.store, earlier)
    if (look === undefined) return { kind: 'later', afterMs: 0, reason: 'it went before its turn' }
    const isTold = earlier !== undefined && 'inputs' in earlier && (await isToldLast(earlier, look, turn))
    const snapshot = isTold ? { ...earlier, ...look } : await gather(look, turn, turn.store)
    const decision = decideBalancer(snapshot)
    return decision.do === 'serve' || decision.do === 'cleanUp'
      ? apply(decision, snapshot, turn)
      : carryOut(snapshot, turn)
  })
}

/** What is only verified is told once more what it was told last, by whomever; that needs no other look at the world. */
async function isToldLast<K extends BalancedKind>(
  { object, verify, isListed, inputs }: BalancerSnapshot<ObjectOfKind[K]>,
  now: BalancerLook<ObjectOfKind[K]>,
  turn: HeldPass<K>,
): Promise<boolean> {
  if (!verify || now.object.metadata.resourceVersion !== object.metadata.resourceVersion) return false
  // What was listed was asked for anew with the look.
  const record = isListed ? now.record : await readRecord(object, turn)
  return record?.fingerprint === inputs.fingerprint
}

async function apply<K extends BalancedKind>(
  decision: Parameters<typeof applyBalancer>[0],
  snapshot: BalancerSnapshot<ObjectOfKind[K]>,
  turn: HeldPass<K>,
): Promise<Outcome> {
  const outcome = await applyBalancer(decision, snapshot, turn)
  return outcome.kind === 'settled' || outcome.kind === 'gone' ? rememberPools(snapshot, outcome, turn) : outcome
}

/** Nothing is assumed there. */
function underLock<K extends BalancedKind>(
  { assumed: _, ...pass }: BalancerPass<K>,
  work: (turn: HeldPass<K>) => Promise<Outcome>,
): Promise<Outcome> {
  return withLock(pass.lock, pass.key, pass.signal, (held) => work(withTurn(pass, held)))
}

/** Where the Services of an object run, for whoever serves it; nothing unless that is wanted. */
async function publishForOthers<K extends BalancedKind>(
  { object, inputs }: BalancerSnapshot<ObjectOfKind[K]>,
  reason: string,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  const ignored: Outcome = { kind: 'ignored', reason }
  if (statusPatch(object.status, inputs.status) === undefined) return ignored
  const publish = async (turn: BalancerPass<K>) => {
    await publishStatus(object, inputs.status, turn)
    return { ...ignored, acted: true }
  }
  return pass.held === undefined ? underLock(pass, publish) : publish(pass)
}

/** What serves now is what the next pass must not lose; a held pool is looked at again when its time is up. */
function rememberPools<K extends BalancedKind>(
  { object, inputs }: BalancerSnapshot<ObjectOfKind[K]>,
  outcome: Extract<Outcome, { kind: 'settled' | 'gone' }>,
  { pools, key }: BalancerPass<K>,
): Outcome {
  if (outcome.kind === 'gone') {
    pools.forget(key, object.metadata.uid ?? '')
    return outcome
  }
  pools.remember(key, object.metadata.uid ?? '', inputs.memory)
  if (inputs.lookAgainMs === undefined) return outcome
  const reason = 'endpoints vanished; their pools are held for a while'
  return { ...outcome, kind: 'later', afterMs: inputs.lookAgainMs, reason }
}
