import { meaningfulAnnotations } from '../../domain/annotations.ts'
import { holdEmptyPools } from '../../domain/backends/hold-empty-pools.ts'
import { NOTHING_SERVED, type PoolMemory } from '../../domain/backends/pool-memory.ts'
import { summariseFindings } from '../../domain/backends/summarise-findings.ts'
import { canonicalJson } from '../../domain/canonical-json.ts'
import { hasFinalizer, otherProvidersFinalizer } from '../../domain/finalizers.ts'
import type { ObjectOfKind } from '../../domain/kinds.ts'
import { isBeingDeleted, type KubernetesObject } from '../../domain/kubernetes-object.ts'
import type { Ownership } from '../../domain/ownership.ts'
import type { ClusterReader } from '../../ports/cluster-store.ts'
import type { BalancerRecord } from '../../provider/multicluster.ts'
import type { BalancedKind, ResolvedObject, Surroundings } from './balanced-resource.ts'
import { askProvider, type BalancerPass } from './balancer-pass.ts'
import type { BalancerInputs, BalancerLook, BalancerSnapshot } from './balancer-snapshot.ts'
import { servedBefore } from './pool-notes.ts'
import { isKnownFaultless } from './settled-still.ts'

/**
 * The object, whose it is, and its balancer. Undefined when the object does not exist. `earlier` is what was seen before
 * the lock was ours: whose it is and what the provider knows still holds while the object is the same version.
 */
export async function lookAtBalancer<K extends BalancedKind>(
  pass: BalancerPass<K>,
  reader: ClusterReader,
  earlier?: BalancerLook<ObjectOfKind[K]>,
): Promise<BalancerLook<ObjectOfKind[K]> | undefined> {
  const { resource, finalizer, takeOver, isVerificationDue } = pass
  const object = await readObject(pass, reader, earlier)
  if (object === undefined) return undefined
  if (earlier !== undefined && isSameVersion(earlier.object, object)) return askedAnew(earlier, pass)
  const ownership = await ownershipOf(object, pass, reader)
  const capable = resource.calls !== undefined
  const faults = ownership.kind === 'ours' && !isKnownFaultless(object, pass) ? resource.faultsOf(object) : []
  const seen = { object, finalizer, takeOver, ownership, faults, capable }
  const verify = isVerificationDue(object.metadata.uid ?? '')
  if (!isProviderAsked(seen)) return { ...seen, record: undefined, isListed: false, verify }
  const listed = pass.assumed?.recordOf(object)
  return { ...seen, record: listed ?? (await readRecord(object, pass)), isListed: listed !== undefined, verify }
}

function isSameVersion(a: KubernetesObject, b: KubernetesObject): boolean {
  return a.metadata.resourceVersion === b.metadata.resourceVersion
}

/** The same look, with what the provider says now where it was said in a list. */
async function askedAnew<K extends BalancedKind, L extends BalancerLook<ObjectOfKind[K]>>(
  look: L,
  pass: BalancerPass<K>,
): Promise<L> {
  return look.isListed ? { ...look, record: await readRecord(look.object, pass), isListed: false } : look
}

async function readObject<K extends BalancedKind>(
  { key, resource, signal, held }: BalancerPass<K>,
  reader: ClusterReader,
  earlier: BalancerLook<ObjectOfKind[K]> | undefined,
): Promise<ObjectOfKind[K] | undefined> {
  held?.check()
  // What is only verified is told what it was told last, and needs nothing else that comes along.
  const again = earlier?.verify === false ? await resource.readAgain?.(earlier.object, signal) : undefined
  return again === undefined ? reader.get(key, { signal }) : again.object
}

export function readRecord<K extends BalancedKind>(
  object: ObjectOfKind[K],
  pass: BalancerPass<K>,
): Promise<BalancerRecord | undefined> {
  return askProvider(pass, { uid: object.metadata.uid ?? '' }, (calls, context) => calls.get(object, context))
}

/** Whether something is to be written whatever the balancer is made from, which then is not read twice. */
export function isWriteCertain(look: BalancerLook): boolean {
  const { object, finalizer, record } = look
  if (!isServed(look)) return false
  if (!hasFinalizer(object, finalizer)) return otherProvidersFinalizer(object, finalizer) === undefined
  return record?.fingerprint === undefined
}

/** What the object is served in, as it is now; nothing where it is not to be served. */
export async function readSurroundings<K extends BalancedKind>(
  look: BalancerLook<ObjectOfKind[K]>,
  { resource, signal, assumed }: BalancerPass<K>,
  reader: ClusterReader,
): Promise<Surroundings | undefined> {
  if (!isServed(look)) return undefined
  const { object } = look
  return resource.surroundingsOf(object, reader, signal, assumed?.conflictsOf(object))
}

/** With everything that the balancer is made from. */
export async function gatherBalancer<K extends BalancedKind>(
  look: BalancerLook<ObjectOfKind[K]>,
  surroundings: Surroundings | undefined,
  pass: BalancerPass<K>,
  reader: ClusterReader,
): Promise<BalancerSnapshot<ObjectOfKind[K]>> {
  const { object, record } = look
  const resolved =
    surroundings === undefined
      ? await resolveUnserved(object, pass, reader)
      : pass.resource.resolve(object, surroundings)
  const served = await servedBefore(object, resolved, record, pass)
  const inputs =
    served === undefined
      ? inputsOfUnremembered(object, resolved, record, pass)
      : inputsOf(object, resolved, served, pass)
  return { ...look, inputs }
}

/** Where nobody remembers, the balancer may: made from empty pools, it served nothing that could be held. */
function inputsOfUnremembered<K extends BalancedKind>(
  object: ObjectOfKind[K],
  resolved: ResolvedObject,
  record: BalancerRecord | undefined,
  pass: BalancerPass<K>,
): BalancerInputs {
  const emptied = inputsOf(object, resolved, NOTHING_SERVED, pass)
  return emptied.fingerprint === record?.fingerprint ? emptied : inputsOf(object, resolved, undefined, pass)
}

/** In deletion the finalizer alone decides: a class that is gone must not keep the object. */
async function ownershipOf<K extends BalancedKind>(
  object: ObjectOfKind[K],
  { resource, disowned, signal }: BalancerPass<K>,
  reader: ClusterReader,
): Promise<Ownership> {
  if (isBeingDeleted(object)) return { kind: 'unresolved', reason: 'being deleted' }
  return disowned ? { kind: 'another', reason: 'it is let go' } : resource.ownershipOf(object, reader, signal)
}

const NOTHING_RESOLVED: ResolvedObject = {
  spec: undefined,
  backends: { backends: { services: [] }, findings: [], blocked: [] },
  certificates: [],
  findings: [],
  status: {},
}

async function resolveUnserved<K extends BalancedKind>(
  object: ObjectOfKind[K],
  { resource, signal }: BalancerPass<K>,
  reader: ClusterReader,
): Promise<ResolvedObject> {
  if (isBeingDeleted(object) || resource.statusOfOthers === undefined) return NOTHING_RESOLVED
  return { ...NOTHING_RESOLVED, status: await resource.statusOfOthers(object, reader, signal) }
}

type Seen = Omit<BalancerLook, 'record' | 'isListed' | 'verify'>

function isServed({ object, ownership, faults, capable }: Seen): boolean {
  return capable && !isBeingDeleted(object) && ownership.kind === 'ours' && faults.length === 0
}

/** Only where the answer matters: to serve, and to tell our published status from another's before it is cleared. */
function isProviderAsked(seen: Seen): boolean {
  const { object, ownership, capable, finalizer } = seen
  const isLeft = ownership.kind === 'another' && hasFinalizer(object, finalizer)
  return isServed(seen) || (capable && !isBeingDeleted(object) && isLeft)
}

function inputsOf<K extends BalancedKind>(
  object: ObjectOfKind[K],
  resolved: ResolvedObject,
  served: PoolMemory | undefined,
  { poolGraceMs, clock, digest }: BalancerPass<K>,
): BalancerInputs {
  const { certificates, status, spec } = resolved
  const { backends, findings, memory, lookAgainMs } = holdEmptyPools(
    served,
    resolved.backends,
    clock.now(),
    poolGraceMs,
  )
  return {
    spec,
    backends,
    certificates,
    findings: summariseFindings([...resolved.findings, ...findings]),
    status,
    memory,
    lookAgainMs,
    fingerprint: digest(
      canonicalJson({ spec, annotations: meaningfulAnnotations(object), status, backends, certificates }),
    ),
  }
}
