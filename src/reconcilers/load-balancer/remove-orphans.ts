import type { Kind } from '../../domain/kinds.ts'
import type { KubernetesObject } from '../../domain/kubernetes-object.ts'
import { formatKey, keyOf, type ObjectKey } from '../../domain/object-key.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterStore } from '../../ports/cluster-store.ts'
import type { HeldLock, Lock } from '../../ports/lock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { BalancerIdentity } from '../../provider/multicluster.ts'
import { eachPage } from '../list-all.ts'
import { callProvider } from '../provider-call.ts'
import type { OrphanReport, OrphanSweep } from '../reconciler.ts'
import { type Turn, withTurn } from '../with-turn.ts'

/** What the search for balancers of one kind needs. */
export interface OrphanPass {
  key: ObjectKey
  store: ClusterStore
  lock: Lock
  clock: Clock
  logger: Logger
  clusterId: string
  /** Aborts at the deadline, and when the lock is lost. */
  signal: AbortSignal
  /** Empty while only reading. */
  fence: string
  /** Undefined while only reading. */
  held?: HeldLock
  /** Whether this object may have a balancer of ours: somebody holds it by a finalizer, or it is not certainly another's. */
  mayHaveBalancer(object: KubernetesObject, signal: AbortSignal): Promise<boolean>
  /** Every balancer in the provider's record; undefined when it keeps none that it can list. */
  list: ((signal: AbortSignal) => Promise<BalancerIdentity[]>) | undefined
  /** Has the provider remove what it has of this uid, from its own record. */
  remove(uid: string, turn: Pick<OrphanPass, 'key' | 'signal' | 'fence' | 'held'>): Promise<void>
}

/** Every balancer of this kind in the provider's record; none when it keeps no record that it can list. */
async function recordedBalancers({ list, clusterId, signal, key }: OrphanPass): Promise<BalancerIdentity[]> {
  if (list === undefined) return []
  const identities = await callProvider(key, signal, () => list(signal))
  return identities.filter((identity) => identity.clusterId === clusterId && identity.kind === key.kind)
}

/**
 * Removes the balancers of objects that are gone and whose uids somebody told. Nothing is removed on their word: the
 * object of this uid was just seen to be gone, and the provider's own record must name key and uid.
 */
export async function removeFormer(uids: readonly string[], pass: OrphanPass): Promise<void> {
  const { namespace, name } = pass.key
  const recorded = await recordedBalancers(pass)
  const former = recorded.filter(
    (identity) => identity.namespace === namespace && identity.name === name && uids.includes(identity.uid),
  )
  for (const { uid } of former) await removeBalancer(uid, pass)
}

// A create may be in flight, and a list a moment old; nobody removes what was first seen just now.
const SEEN_FOR_MS = 60_000

/**
 * Balancers that nobody cleans up any more: somebody took our finalizer by hand, or the cloud was later than it says, and
 * the object is gone, or another's. Reported when they are seen first, and removed when they are seen again a while later.
 * The first sighting is noted with the lock, outside this process.
 */
export async function sweepOrphans(
  pass: OrphanPass,
  { remove, isHeld }: { remove: boolean; isHeld: OrphanSweep['isHeld'] },
): Promise<OrphanReport> {
  const report = { found: 0, removed: 0 }
  const suspects = (await recordedBalancers(pass))
    .filter(({ uid }) => !isHeld(uid))
    .map(({ namespace, name, uid }) => ({ uid, key: { ...pass.key, namespace, name } }))
  if (suspects.length === 0) return report
  const living = await livingObjects(new Set(suspects.map(({ key }) => formatKey(key))), pass)
  for (const { uid, key } of suspects) {
    if (await isOwned(uid, living.get(formatKey(key)), pass)) continue
    const removed = await examine(uid, { ...pass, key }, remove)
    if (removed === undefined) continue
    if (removed) report.removed += 1
    else report.found += 1
  }
  return report
}

/** Those of these names, by name. */
async function livingObjects(
  names: ReadonlySet<string>,
  { store, key, signal }: OrphanPass,
): Promise<Map<string, KubernetesObject>> {
  const kind: Kind = key.kind
  const living = new Map<string, KubernetesObject>()
  await eachPage(kind, store, { limit: 500, signal }, (objects: readonly KubernetesObject[]) => {
    for (const object of objects) {
      const name = formatKey(keyOf(kind, object))
      if (names.has(name)) living.set(name, object)
    }
  })
  return living
}

async function isOwned(uid: string, object: KubernetesObject | undefined, pass: OrphanPass): Promise<boolean> {
  return object?.metadata.uid === uid && (await pass.mayHaveBalancer(object, pass.signal))
}

/** Whether it was removed; undefined when it is no orphan after all, or somebody else is at it. */
async function examine(uid: string, pass: OrphanPass, remove: boolean): Promise<boolean | undefined> {
  const held = await pass.lock.acquire(pass.key, { signal: pass.signal })
  if (held === undefined) return undefined
  try {
    return await examineHeld(uid, withTurn(pass, held), remove)
  } finally {
    await held.release()
  }
}

async function examineHeld(uid: string, pass: OrphanPass & Turn, remove: boolean): Promise<boolean | undefined> {
  const { store, key, signal, held, logger } = pass
  const note = `orphan-${uid}`
  if (await isOwned(uid, await store.get(key, { signal }), pass)) return undefined
  const seenAt = Number(held.note(note) ?? Number.NaN)
  const now = held.now()
  if (Number.isNaN(seenAt)) {
    logger.warn({ balancer: describe(key, uid) }, 'balancer that nobody holds: looked at again later')
    await held.setNote(note, String(now))
    return false
  }
  if (!remove || now - seenAt < SEEN_FOR_MS) return false
  await removeBalancer(uid, pass)
  await held.setNote(note, undefined)
  return true
}

async function removeBalancer(uid: string, pass: OrphanPass): Promise<void> {
  const { key, signal, fence, held } = pass
  await pass.remove(uid, { key, signal, fence, ...(held && { held }) })
  pass.logger.warn({ balancer: describe(pass.key, uid) }, 'balancer that nobody holds: removed')
}

function describe(key: ObjectKey, uid: string): string {
  return `${formatKey(key)} (uid ${uid})`
}
