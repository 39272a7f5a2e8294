import { sameJson } from '../../src/domain/canonical-json.ts'
import type { KubernetesObject } from '../../src/domain/kubernetes-object.ts'
import { formatKey, type ObjectKey } from '../../src/domain/object-key.ts'
import type { Lock } from '../../src/ports/lock.ts'
import type { BalancerIdentity, ProviderContext } from '../../src/provider/multicluster.ts'
import type { Setting } from './history.ts'
import { isForgotten } from './is-forgotten.ts'
import type { Journal } from './journal.ts'
import { createLockHolders, type Holding } from './lock-holders.ts'
import type { Commit, Owners } from './owners.ts'
import { formatIdentity, type Method } from './sim-cloud.ts'
import { FINALIZER } from './sim-config.ts'
import { GO_FINALIZERS } from './sim-objects.ts'

/** What must hold at every step. Words of the report. */
export const STEP_INVARIANTS = {
  one: 'at most one balancer belongs to an identity',
  owned:
    'each balancer has a living owner that carries our finalizer, unless a user took it, or a process died that kept its notes to itself',
  released:
    'our finalizer is released only when no balancer is left, those aside that processes asked for which died with their notes',
  foreign: 'of an object we change our finalizer and our own status fields, and nothing else',
  locked: 'nobody writes to an object or changes its balancer but who holds its lock and was not told that it is lost',
  alone: 'nobody begins a write or a change in the cloud while another one that lives holds the lock',
  inTime: 'nobody begins a write or a change in the cloud when its Lease is over or another’s, told or not',
  kept: 'the balancer of an object that is ours, and was when the turn began, is not deleted',
  readAgain: 'an ensure that ends on an object that has gone or is leaving is followed by a deletion in the same turn',
} as const

export interface Invariants {
  watchLock(lock: Lock, id: string): Lock
  onCommit(commit: Commit): void
  onSend(id: string, key: ObjectKey, isWrite: boolean): void
  onCloudCall(id: string, method: Method, context: CallContext, isGone: boolean): void
  onCloudAnswer(id: string, method: Method, context: CallContext): void
  /** The cloud answered that there is none: it need not be deleted. */
  onAbsent(id: string, identity: BalancerIdentity): void
  onFault(id: string): void
  onGone(id: string): void
  onFrozen(id: string): void
  /** Whether it works on what is its own to work on. */
  checkTurn(id: string, object: ObjectKey, work: string): void
  holds(id: string, object: ObjectKey): boolean
  /** Who holds a lock. */
  holders(): string[]
  afterStep(): void
}

type CallContext = Pick<ProviderContext, 'identity'>

/** What is balanced, and what of it is ours to change. */
export interface BalancedRules {
  kinds: readonly string[]
  finalizer: string
  /** Everything of an object that is not ours to change. */
  foreignParts(object: KubernetesObject): unknown
}

export interface InvariantParts {
  setting: Pick<Setting, 'lock'>
  rules: BalancedRules
  journal: Journal
  cloud: {
    balancers(): readonly { identity: BalancerIdentity; isOfTheDead: boolean }[]
    /** Another one after every change. */
    version(): unknown
  }
  owners: () => Owners
  /** Whether the Lease of this object says so at this moment. */
  isLeased: (id: string, key: ObjectKey) => boolean
  /** Its uid and resourceVersion, if it is ours to serve at this moment. */
  servedVersion: (key: ObjectKey) => string | undefined
}

export function createInvariants({
  setting,
  rules,
  journal,
  cloud,
  owners,
  isLeased,
  servedVersion,
}: InvariantParts): Invariants {
  const faults = new Map<string, number>()
  const faultsOf = (id: string) => faults.get(id) ?? 0
  const holders = createLockHolders(journal, isLeased, servedVersion, checkReadAgain)
  let seenVersion: unknown
  let isDirty = false

  function checkReadAgain(holding: Holding): void {
    for (const { uid, wasLeaving, faults: before } of holding.ensured) {
      // Who stood still may have no time left.
      if (!wasLeaving || before !== faultsOf(holding.id) || holding.wasFrozen || holding.held.lost.aborted) continue
      journal.checked(STEP_INVARIANTS.readAgain)
      if (holding.deleted.has(uid)) continue
      journal.violated(
        STEP_INVARIANTS.readAgain,
        `${holding.id} made a balancer for ${holding.key}, uid ${uid}, and let it be`,
      )
    }
  }

  function checkTurn(id: string, object: ObjectKey, work: string): Holding | undefined {
    const key = formatKey(object)
    const holding = holders.of(id, key)
    if (holding?.wasLeased) {
      journal.checked(STEP_INVARIANTS.inTime)
      if (!isLeased(id, object)) journal.violated(STEP_INVARIANTS.inTime, `${id}: ${work} on ${key}`)
    }
    journal.checked(STEP_INVARIANTS.locked)
    journal.checked(STEP_INVARIANTS.alone)
    if (holding === undefined) journal.violated(STEP_INVARIANTS.locked, `${id}: ${work} on ${key}`)
    const other = holders.another(id, key)
    if (other !== undefined) journal.violated(STEP_INVARIANTS.alone, `${id}: ${work} on ${key}, held by ${other.id}`)
    return holding
  }

  function checkBalancers(): void {
    const identities = new Set<string>()
    for (const balancer of cloud.balancers()) {
      const { identity } = balancer
      const name = formatIdentity(identity)
      journal.checked(STEP_INVARIANTS.one)
      if (identities.has(name)) journal.violated(STEP_INVARIANTS.one, name)
      identities.add(name)
      const owner = owners().get(identity.uid)
      journal.checked(STEP_INVARIANTS.owned)
      if (owner?.exists && owner.held) continue
      if (isForgotten(balancer, setting) || owner?.stripped) continue
      journal.violated(
        STEP_INVARIANTS.owned,
        `${name}: ${owner?.exists ? 'its owner has no finalizer' : 'its owner is gone'}`,
      )
    }
  }

  function checkRelease({ before, owner, writer }: Commit): void {
    if (writer === undefined || before === undefined || owner.held || !hadOurs(before)) return
    journal.checked(STEP_INVARIANTS.released)
    const left = cloud.balancers().find((one) => one.identity.uid === owner.uid && !isForgotten(one, setting))
    if (left !== undefined) journal.violated(STEP_INVARIANTS.released, formatIdentity(left.identity))
  }

  function checkForeign({ before, after, owner, writer }: Commit): void {
    if (writer === undefined || before === undefined || after === undefined) return
    journal.checked(STEP_INVARIANTS.foreign)
    const [was, is] = [rules.foreignParts(before), rules.foreignParts(after)]
    if (!sameJson(was, is)) {
      journal.violated(
        STEP_INVARIANTS.foreign,
        `${writer} on ${owner.name}: ${JSON.stringify(was)} → ${JSON.stringify(is)}`,
      )
    }
  }

  const hadOurs = ({ metadata }: KubernetesObject) => metadata.finalizers?.includes(rules.finalizer) ?? false

  return {
    watchLock: holders.watch,
    checkTurn,
    holds: (id, object) => holders.of(id, formatKey(object)) !== undefined,
    onCommit(commit) {
      isDirty = true
      checkRelease(commit)
      checkForeign(commit)
    },
    onSend(id, key, isWrite) {
      if (!isWrite || !rules.kinds.includes(key.kind)) return
      checkTurn(id, key, 'a write')
    },
    onCloudCall(id, method, { identity }, isGone) {
      if (method === 'get' || method === 'list') return
      // What is left of an object that is gone nobody else works on.
      if (isGone && !owners().get(identity.uid)?.exists)
        return void holders.of(id, formatKey(identity))?.deleted.add(identity.uid)
      const holding = checkTurn(id, identity, method)
      if (method !== 'ensureDeleted') return
      holding?.deleted.add(identity.uid)
      journal.checked(STEP_INVARIANTS.kept)
      const served = holding?.ensured.length === 0 ? holding.served : undefined
      if (served?.startsWith(`${identity.uid}/`) && served === servedVersion(identity)) {
        journal.violated(STEP_INVARIANTS.kept, `${id} on ${formatKey(identity)}`)
      }
    },
    onCloudAnswer(id, method, { identity }) {
      if (method !== 'ensure') return
      const owner = owners().get(identity.uid)
      const wasLeaving = owner === undefined || !owner.exists || owner.deleting
      holders.of(id, formatKey(identity))?.ensured.push({ uid: identity.uid, wasLeaving, faults: faultsOf(id) })
    },
    onAbsent: (id, identity) => void holders.of(id, formatKey(identity))?.deleted.add(identity.uid),
    onFault: (id) => void faults.set(id, faultsOf(id) + 1),
    onGone: holders.forget,
    holders: () => holders.all().map(({ id }) => id),
    onFrozen(id) {
      holders.freeze(id)
      faults.set(id, faultsOf(id) + 1)
    },
    afterStep() {
      if (!isDirty && cloud.version() === seenVersion) return
      isDirty = false
      seenVersion = cloud.version()
      checkBalancers()
    },
  }
}

const OUR_STATUS = ['loadBalancer', 'serviceLocations', 'trafficBlockClusters']

export function karmadaRules(setting: Setting): BalancedRules {
  return {
    kinds: ['MultiClusterIngress', 'MultiClusterService'],
    finalizer: FINALIZER,
    foreignParts: (object) => foreignParts(object, setting),
  }
}

function foreignParts(object: KubernetesObject, { takeOver }: Setting): unknown {
  const { metadata, status, ...rest } = object as KubernetesObject & { status?: Record<string, unknown> }
  const { labels, annotations, ownerReferences, finalizers = [] } = metadata
  const isOurs = (name: string) => name === FINALIZER || (takeOver && GO_FINALIZERS.includes(name))
  const { conditions, ...others } = status ?? {}
  const list = Array.isArray(conditions) ? conditions.filter(({ type }) => type !== 'LoadBalancerReady') : []
  return {
    ...rest,
    metadata: { labels, annotations, ownerReferences, finalizers: finalizers.filter((name) => !isOurs(name)) },
    status: {
      ...Object.fromEntries(Object.entries(others).filter(([name]) => !OUR_STATUS.includes(name))),
      conditions: list,
    },
  }
}
