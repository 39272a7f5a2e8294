import type { BackendFinding } from '../../domain/backends/backend-finding.ts'
import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import { claimPatch, exchangePatch, goManagersFinalizer, hasFinalizer, releasePatch } from '../../domain/finalizers.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import { sameLoadBalancerStatus } from '../../domain/load-balancer-status.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { isProviderError } from '../../provider/errors.ts'
import type { BalancerResult } from '../../provider/multicluster.ts'
import type { EventNote } from '../event-recorder.ts'
import type { BalancedKind } from './balanced-resource.ts'
import { askProvider, type BalancerPass, type HeldPass } from './balancer-pass.ts'
import type { BalancedObject, BalancerSnapshot } from './balancer-snapshot.ts'
import type { BalancerDecision, Claim } from './decide-balancer.ts'
import { noteHeldPools } from './pool-notes.ts'
import { publishCondition, SERVED, withdrawCondition } from './publish-condition.ts'
import { publishAndReadAgain, publishStatus } from './publish-status.ts'
import { createCame, forgetCreate, rememberingCreate, unknownCreateMs } from './unknown-create.ts'

type Snapshot<K extends BalancedKind> = BalancerSnapshot<ObjectOfKind[K]>
type Serve = Extract<BalancerDecision, { do: 'serve' }>
type CleanUp = Extract<BalancerDecision, { do: 'cleanUp' }>

/** The writes of one pass, in a fixed order; the lock is held. */
export async function applyBalancer<K extends BalancedKind>(
  decision: Serve | CleanUp,
  snapshot: Snapshot<K>,
  pass: HeldPass<K>,
): Promise<Outcome> {
  try {
    return decision.do === 'serve' ? await serve(decision, snapshot, pass) : await leave(decision, snapshot, pass)
  } catch (error) {
    await tellRefusal(decision, snapshot.object, error, pass)
    throw error
  }
}

/** Nobody tries again what the API server refuses for good, so its owner has to hear of it. */
async function tellRefusal<K extends BalancedKind>(
  decision: Serve | CleanUp,
  object: BalancedObject,
  error: unknown,
  pass: HeldPass<K>,
): Promise<void> {
  if (!isCatalogueError(error, 'ApiDenied') && !isCatalogueError(error, 'ApiInvalid')) return
  const reason = decision.do === 'serve' ? 'SyncLoadBalancerFailed' : 'DeleteLoadBalancerFailed'
  await tellAll(object, [{ type: 'Warning', reason, message: error.message }], pass)
}

/** Nothing is touched; the owner is told once. */
export async function reportHold<K extends BalancedKind>(
  pass: BalancerPass<K>,
  object: BalancedObject,
  reason: string,
): Promise<Outcome> {
  const message = `${reason}; the balancer stays as it is`
  await pass.recorder.record(object, { type: 'Warning', reason: 'OwnershipUnresolved', message }, pass.signal)
  return { kind: 'ignored', reason: message }
}

/** The provider is not asked; the owner is told once, and the next change of the object is looked at again. */
export async function reportFaults<K extends BalancedKind>(
  pass: BalancerPass<K>,
  object: BalancedObject,
  reason: string,
): Promise<Outcome> {
  const message = `not served as it is: ${reason}`
  await pass.recorder.record(object, { type: 'Warning', reason: 'InvalidObject', message }, pass.signal)
  return { kind: 'ignored', reason: message }
}

/** claim → ensure | update → publish, which reads again → tell. */
async function serve<K extends BalancedKind>(
  decision: Serve,
  snapshot: Snapshot<K>,
  pass: HeldPass<K>,
): Promise<Outcome> {
  const object =
    decision.claim === 'none' ? snapshot.object : await claimFinalizer(decision.claim, snapshot.object, pass)
  await noteHeldPools(object.metadata.uid ?? '', snapshot.inputs, pass)
  const result = await callBalancer(decision, object, snapshot, pass)
  if (result === undefined) return { kind: 'ignored', reason: 'the provider says that it is served elsewhere' }
  if (decision.call !== 'ensure') await createCame(object.metadata.uid ?? '', pass)
  const { status } = snapshot.inputs
  const wanted = result.status === undefined ? status : { ...status, loadBalancer: result.status }
  const current = await publishAndReadAgain(object, wanted, decision.call === 'ensure', pass)
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return removeOrphan(object, pass)
  if (isBeingDeleted(current)) {
    return cleanUp({ do: 'cleanUp', finalizer: pass.finalizer }, { ...snapshot, object: current }, pass)
  }
  if (!hasFinalizer(current, pass.finalizer)) {
    throw new CatalogueError('Conflict', 'our finalizer was taken away while the balancer was made', {
      object: pass.key,
    })
  }
  const published = await publishCondition(current, SERVED, pass)
  await tellAll(current, [...notesFor(decision, result), ...snapshot.inputs.findings], pass)
  const isWritten = published.metadata.resourceVersion !== snapshot.object.metadata.resourceVersion
  return { kind: 'settled', acted: isWritten || isChange(decision, result, snapshot) }
}

/** A provider that does not say is believed to have done what it was called for, if that was known to be anything. */
function isChange<K extends BalancedKind>(
  { call }: Serve,
  { changed }: BalancerResult,
  { record, inputs }: Snapshot<K>,
): boolean {
  const stored = record?.fingerprint
  const isNews = record === undefined || (stored !== undefined && stored !== inputs.fingerprint)
  return call !== 'none' && (changed ?? isNews)
}

/** Invariant: no balancer is made for an object unless the API server answered with a copy that carries our finalizer. */
async function claimFinalizer<K extends BalancedKind>(
  claim: Claim,
  object: ObjectOfKind[K],
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const { store, key, signal, finalizer } = pass
  const held = claim === 'takeOver' ? goManagersFinalizer(object) : undefined
  const operations = held === undefined ? claimPatch(object, finalizer) : exchangePatch(object, held, finalizer)
  const stored = await store.patch(key, { type: 'json', operations }, { signal })
  if (!hasFinalizer(stored, finalizer)) {
    throw new CatalogueError('ApiFailed', 'the API server took our finalizer and did not store it', { object: key })
  }
  return stored
}

/** Undefined when the provider leaves the object to somebody else. */
async function callBalancer<K extends BalancedKind>(
  decision: Serve,
  object: ObjectOfKind[K],
  { inputs, record }: Snapshot<K>,
  pass: HeldPass<K>,
): Promise<BalancerResult | undefined> {
  const { call } = decision
  if (call === 'none') return { changed: false, ...(record?.status === undefined ? {} : { status: record.status }) }
  const view = { ...object, spec: inputs.spec, status: { ...object.status, ...inputs.status } } as ObjectOfKind[K]
  const subject = { uid: object.metadata.uid ?? '', inputs }
  try {
    return call === 'ensure'
      ? await rememberingCreate({ uid: subject.uid, isThere: false }, pass, () =>
          askProvider(pass, subject, (calls, context) => calls.ensure(view, context)),
        )
      : await askProvider(pass, subject, (calls, context) => calls.update(view, context))
  } catch (error) {
    if (isProviderError(error) && error.kind === 'ImplementedElsewhere') return undefined
    // Where the Services run is known, whatever became of the balancer.
    const published = await publishStatus(object, inputs.status, pass)
    await tellFailure(published, 'SyncLoadBalancerFailed', error, pass)
    throw error
  }
}

/**
 * What the Go manager held and what stays is made ours first: when only half is done, and the object is ours again, the
 * next pass must not take it for one whose balancer it has to find.
 */
async function leave<K extends BalancedKind>(
  { finalizer }: CleanUp,
  snapshot: Snapshot<K>,
  pass: HeldPass<K>,
): Promise<Outcome> {
  if (isBeingDeleted(snapshot.object) || finalizer === pass.finalizer) {
    return cleanUp({ do: 'cleanUp', finalizer }, snapshot, pass)
  }
  const object = await claimFinalizer('takeOver', snapshot.object, pass)
  return cleanUp({ do: 'cleanUp', finalizer: pass.finalizer }, { ...snapshot, object }, pass)
}

/** ensureDeleted → clear the status (when the object stays) → release. */
async function cleanUp<K extends BalancedKind>(
  { finalizer }: CleanUp,
  snapshot: Snapshot<K>,
  pass: HeldPass<K>,
): Promise<Outcome> {
  const { object } = snapshot
  const uid = object.metadata.uid ?? ''
  // Asked first: what the provider does not find afterwards cannot come any more.
  const mayComeMs = unknownCreateMs(uid, pass)
  try {
    await askProvider(pass, { uid }, (calls, context) => calls.ensureDeleted(object, context))
  } catch (error) {
    await tellFailure(object, 'DeleteLoadBalancerFailed', error, pass)
    throw error
  }
  if (mayComeMs > 0) {
    return { kind: 'later', afterMs: mayComeMs, reason: 'a create whose outcome is unknown may still bring a balancer' }
  }
  await forgetCreate(pass)
  const cleared = isBeingDeleted(object) ? object : await clearStatus(snapshot, pass)
  const operations = releasePatch(cleared, finalizer)
  await pass.store.patch(pass.key, { type: 'json', operations }, { signal: pass.signal })
  await tellAll(object, [{ type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' }], pass)
  return isBeingDeleted(object) ? { kind: 'gone' } : { kind: 'settled' }
}

/** The object went while its balancer was made, in spite of the finalizer: the provider removes what it has of this uid. */
async function removeOrphan<K extends BalancedKind>(object: ObjectOfKind[K], pass: BalancerPass<K>): Promise<Outcome> {
  const uid = object.metadata.uid ?? ''
  await askProvider(pass, { uid }, (calls, context) => calls.ensureDeleted(undefined, context))
  return { kind: 'later', afterMs: 0, reason: 'the object went while its balancer was made' }
}

/** Ours to clear only while it is what the provider reported; another may have taken over the fields. */
async function clearStatus<K extends BalancedKind>(
  { object, record }: Snapshot<K>,
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const ours = record?.status === undefined || sameLoadBalancerStatus(object.status?.loadBalancer, record.status)
  const wanted = ours ? { loadBalancer: {}, serviceLocations: [], trafficBlockClusters: [] } : {}
  return withdrawCondition(await publishStatus(object, wanted, pass), pass)
}

function notesFor({ call }: Serve, { status, changed }: BalancerResult): EventNote[] {
  const addresses = (status?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname).join(', ')
  const suffix = addresses === '' ? '' : ` (${addresses})`
  if (call === 'ensure') {
    return [{ type: 'Normal', reason: 'EnsuredLoadBalancer', message: `Ensured load balancer${suffix}` }]
  }
  if (call === 'update' && changed === true) {
    return [{ type: 'Normal', reason: 'UpdatedLoadBalancer', message: `Updated load balancer${suffix}` }]
  }
  return []
}

async function tellAll<K extends BalancedKind>(
  object: BalancedObject,
  notes: readonly (EventNote | BackendFinding)[],
  { recorder, signal }: BalancerPass<K>,
): Promise<void> {
  for (const { type, reason, message } of notes) await recorder.record(object, { type, reason, message }, signal)
}

/** "Still working" is no failure and makes no event. */
async function tellFailure<K extends BalancedKind>(
  object: ObjectOfKind[K],
  reason: 'SyncLoadBalancerFailed' | 'DeleteLoadBalancerFailed',
  error: unknown,
  pass: BalancerPass<K>,
): Promise<void> {
  if (!(error instanceof CatalogueError) || error.code === 'ProviderRetryAfter') return
  const { message } = error
  if (!isBeingDeleted(object)) await publishCondition(object, { status: 'False', reason, message }, pass)
  await tellAll(object, [{ type: 'Warning', reason, message }], pass)
}
