import { CatalogueError, isCatalogueError } from '../../domain/catalogue-error.ts'
import { claimPatch, hasFinalizer, releasePatch } from '../../domain/finalizers.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import type { JsonValue } from '../../domain/kubernetes-object.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import {
  type LoadBalancerStatus,
  publishableStatus,
  sameLoadBalancerStatus,
} from '../../domain/load-balancer-status.ts'
import type { ObjectKey } from '../../domain/object-key.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { validateLoadBalancerStatus } from '../../domain/validation/validate-load-balancer-status.ts'
import { isProviderError } from '../../provider/errors.ts'
import type { BalancerResult } from '../../provider/multicluster.ts'
import type { EventNote } from '../event-recorder.ts'
import type { BalancedKind } from './balanced-resource.ts'
import { askProvider, type BalancerPass } from './balancer-pass.ts'
import type { BalancedObject, BalancerSnapshot } from './balancer-snapshot.ts'
import type { BalancerDecision } from './decide-balancer.ts'

type Snapshot<K extends BalancedKind> = BalancerSnapshot<ObjectOfKind[K]>
type Serve = Extract<BalancerDecision, { do: 'serve' }>
type CleanUp = Extract<BalancerDecision, { do: 'cleanUp' }>

/** The writes of one pass, in a fixed order; the lock is held. */
export function applyBalancer<K extends BalancedKind>(
  decision: Serve | CleanUp,
  snapshot: Snapshot<K>,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  return decision.do === 'serve' ? serve(decision, snapshot, pass) : cleanUp(snapshot, pass)
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

/** claim → ensure | update → publish, which reads again → tell. */
async function serve<K extends BalancedKind>(
  decision: Serve,
  snapshot: Snapshot<K>,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  const object = decision.claim
    ? await claimFinalizer(snapshot.object, pass)
    : await readUnchanged(snapshot.object, pass)
  const result = await callBalancer(decision, object, snapshot, pass)
  if (result === undefined) return { kind: 'ignored', reason: 'the provider says that it is served elsewhere' }
  const current = await publishAndReadAgain(decision, object, result.status, pass)
  if (current === undefined || current.metadata.uid !== object.metadata.uid) return removeOrphan(object, snapshot, pass)
  if (isBeingDeleted(current)) return cleanUp({ ...snapshot, object: current }, pass)
  if (!hasFinalizer(current, pass.finalizer))
    throw moved(pass, 'our finalizer was taken away while the balancer was made')
  const note = noteFor(decision, result)
  if (note !== undefined) await pass.recorder.record(current, note, pass.signal)
  return { kind: 'settled' }
}

/**
 * Invariant: after an ensure the object is looked at again, for it may have gone meanwhile. A status that could be
 * written to the same version shows that nothing happened, and its answer is that look; otherwise it is a read.
 */
async function publishAndReadAgain<K extends BalancedKind>(
  { call }: Serve,
  object: ObjectOfKind[K],
  status: LoadBalancerStatus | undefined,
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K] | undefined> {
  const { store, key, signal } = pass
  try {
    const published = await publishStatus(object, status, pass)
    const isFresh = published !== object || call !== 'ensure'
    return isFresh ? published : await store.get(key, { signal })
  } catch (error) {
    if (!isCatalogueError(error, 'Conflict') && !isCatalogueError(error, 'NotFound')) throw error
    const current = await store.get(key, { signal })
    if (current === undefined || current.metadata.uid !== object.metadata.uid || isBeingDeleted(current)) return current
    throw error
  }
}

/** Invariant: no balancer is made for an object unless the API server answered with a copy that carries our finalizer. */
async function claimFinalizer<K extends BalancedKind>(
  object: ObjectOfKind[K],
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const { store, key, signal, finalizer } = pass
  const stored = await store.patch(key, { type: 'json', operations: claimPatch(object, finalizer) }, { signal })
  if (!hasFinalizer(stored, finalizer)) {
    throw new CatalogueError('ApiFailed', 'the API server took our finalizer and did not store it', { object: key })
  }
  return stored
}

/** What was decided before the lock was ours holds only for the same version of the object. */
async function readUnchanged<K extends BalancedKind>(
  object: ObjectOfKind[K],
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const current = await pass.store.get(pass.key, { signal: pass.signal })
  if (current?.metadata.resourceVersion !== object.metadata.resourceVersion || current === undefined) {
    throw moved(pass, 'the object changed before its turn')
  }
  return current
}

/** Undefined when the provider leaves the object to somebody else. */
async function callBalancer<K extends BalancedKind>(
  decision: Serve,
  object: ObjectOfKind[K],
  { fingerprint, record }: Snapshot<K>,
  pass: BalancerPass<K>,
): Promise<BalancerResult | undefined> {
  const { call } = decision
  if (call === 'none') return { changed: false, ...(record?.status === undefined ? {} : { status: record.status }) }
  try {
    return await askProvider(pass, { uid: object.metadata.uid ?? '', fingerprint }, (calls, context) =>
      call === 'ensure' ? calls.ensure(object, context) : calls.update(object, context),
    )
  } catch (error) {
    if (isProviderError(error) && error.kind === 'ImplementedElsewhere') return undefined
    await tellFailure(object, 'SyncLoadBalancerFailed', error, pass)
    throw error
  }
}

/** ensureDeleted → clear the status (when the object stays) → release. */
async function cleanUp<K extends BalancedKind>(snapshot: Snapshot<K>, pass: BalancerPass<K>): Promise<Outcome> {
  const { object, fingerprint } = snapshot
  try {
    await askProvider(pass, { uid: object.metadata.uid ?? '', fingerprint }, (calls, context) =>
      calls.ensureDeleted(object, context),
    )
  } catch (error) {
    await tellFailure(object, 'DeleteLoadBalancerFailed', error, pass)
    throw error
  }
  const cleared = isBeingDeleted(object) ? object : await clearStatus(snapshot, pass)
  await releaseFinalizer(cleared, pass)
  const note: EventNote = { type: 'Normal', reason: 'DeletedLoadBalancer', message: 'Deleted load balancer' }
  await pass.recorder.record(object, note, pass.signal)
  return isBeingDeleted(object) ? { kind: 'gone' } : { kind: 'settled' }
}

/** The object went while its balancer was made, in spite of the finalizer: the provider removes what it has of this uid. */
async function removeOrphan<K extends BalancedKind>(
  object: ObjectOfKind[K],
  { fingerprint }: Snapshot<K>,
  pass: BalancerPass<K>,
): Promise<Outcome> {
  await askProvider(pass, { uid: object.metadata.uid ?? '', fingerprint }, (calls, context) =>
    calls.ensureDeleted(undefined, context),
  )
  return { kind: 'later', afterMs: 0, reason: 'the object went while its balancer was made' }
}

async function releaseFinalizer<K extends BalancedKind>(object: ObjectOfKind[K], pass: BalancerPass<K>): Promise<void> {
  const operations = releasePatch(object, pass.finalizer)
  await pass.store.patch(pass.key, { type: 'json', operations }, { signal: pass.signal })
}

/** Ours to clear only while it is what the provider reported; another may have taken over the field. */
function clearStatus<K extends BalancedKind>(
  { object, record }: Snapshot<K>,
  pass: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  const published = object.status?.loadBalancer
  const ours = record?.status === undefined || sameLoadBalancerStatus(published, record.status)
  return ours ? publishStatus(object, { ingress: [] }, pass) : Promise.resolve(object)
}

/** Writes `status.loadBalancer` of exactly this version, and only when readers would see a difference. */
async function publishStatus<K extends BalancedKind>(
  object: ObjectOfKind[K],
  status: LoadBalancerStatus | undefined,
  { store, key, signal }: BalancerPass<K>,
): Promise<ObjectOfKind[K]> {
  if (status === undefined || sameLoadBalancerStatus(object.status?.loadBalancer, status)) return object
  refuseUnstorable(status, key)
  const { uid = null, resourceVersion = null } = object.metadata
  const loadBalancer = publishableStatus(status) as { [key: string]: JsonValue }
  const body = { metadata: { uid, resourceVersion }, status: { loadBalancer } }
  return store.patch(key, { type: 'merge', body }, { signal, subresource: 'status' })
}

/** Karmada checks a stored address at every later update, so a bad one would block even the release of our finalizer. */
function refuseUnstorable(status: LoadBalancerStatus, object: ObjectKey): void {
  const [finding] = validateLoadBalancerStatus({ loadBalancer: publishableStatus(status) })
  if (finding === undefined) return
  const message = `the provider reported an address that cannot be stored: ${finding.field}: ${finding.message}`
  throw new CatalogueError('ProviderFailed', message, { object, field: finding.field })
}

function noteFor({ call }: Serve, { status, changed }: BalancerResult): EventNote | undefined {
  const addresses = (status?.ingress ?? []).map(({ ip, hostname }) => ip ?? hostname).join(', ')
  const suffix = addresses === '' ? '' : ` (${addresses})`
  if (call === 'ensure')
    return { type: 'Normal', reason: 'EnsuredLoadBalancer', message: `Ensured load balancer${suffix}` }
  if (call === 'update' && changed === true) {
    return { type: 'Normal', reason: 'UpdatedLoadBalancer', message: `Updated load balancer${suffix}` }
  }
  return undefined
}

/** "Still working" is no failure and makes no event. */
async function tellFailure<K extends BalancedKind>(
  object: BalancedObject,
  reason: 'SyncLoadBalancerFailed' | 'DeleteLoadBalancerFailed',
  error: unknown,
  pass: BalancerPass<K>,
): Promise<void> {
  if (!(error instanceof CatalogueError) || error.code === 'ProviderRetryAfter') return
  await pass.recorder.record(object, { type: 'Warning', reason, message: error.message }, pass.signal)
}

function moved<K extends BalancedKind>(pass: BalancerPass<K>, message: string): CatalogueError {
  return new CatalogueError('Conflict', message, { object: pass.key })
}
