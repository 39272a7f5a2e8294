import { goManagersFinalizer, hasFinalizer, otherProvidersFinalizer } from '../../domain/finalizers.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import { describeFaults } from '../../domain/validation/stored-object-faults.ts'
import type { BalancerSnapshot } from './balancer-snapshot.ts'
import { statusPatch } from './computed-status.ts'
import { isConditionPublished, SERVED } from './publish-condition.ts'

export type BalancerDecision =
  | { do: 'nothing'; reason: string }
  /** Ours by finalizer, but nobody can say whose it is now: what serves keeps serving. */
  | { do: 'hold'; reason: string }
  /** Ours, but not as it is: its owner has to change it. What serves keeps serving. */
  | { do: 'refuse'; reason: string }
  | { do: 'settled' }
  /** `none`: the balancer is as it should be, only the claim or the published status is not. */
  | { do: 'serve'; claim: Claim; call: 'ensure' | 'update' | 'none' }
  /** `finalizer` is released at the end: ours, or the Go manager's that we take over. */
  | { do: 'cleanUp'; finalizer: string }

/** `none`: ours already. `takeOver`: the Go manager's finalizer is exchanged for ours. */
export type Claim = 'none' | 'add' | 'takeOver'

/**
 * The ownership table of DESIGN §7.
 *
 * | ownership | our finalizer | do |
 * |---|---|---|
 * | deleting (asked before the ownership) | present | clean up |
 * | deleting | absent | nothing |
 * | ours, and invalid | any | refuse |
 * | ours | any | serve |
 * | another's | present | clean up |
 * | unresolved | present | hold |
 * | another's, unresolved | absent | nothing |
 *
 * A provider that does not serve this kind can neither serve nor prove anything absent: present holds, absent is nothing.
 */
export function decideBalancer(snapshot: BalancerSnapshot): BalancerDecision {
  const { object, ownership, faults, capable } = snapshot
  const holder = holdingFinalizer(snapshot)
  const leave = (reason: string): BalancerDecision =>
    holder === undefined ? { do: 'nothing', reason } : { do: 'cleanUp', finalizer: holder }
  const stay = (reason: string): BalancerDecision => ({ do: holder === undefined ? 'nothing' : 'hold', reason })
  if (!capable) return stay(`the provider does not serve ${object.kind}`)
  if (isBeingDeleted(object)) return leave('being deleted, and not held by us')
  if (ownership.kind === 'another') return leave(ownership.reason)
  if (ownership.kind === 'unresolved') return stay(ownership.reason)
  if (faults.length > 0) return { do: 'refuse', reason: describeFaults(faults) }
  return decideServing(snapshot, holder)
}

/** Ours, or in taking over the Go manager's: what marks an object that has to be cleaned up. */
function holdingFinalizer({ object, finalizer, takeOver }: BalancerSnapshot): string | undefined {
  if (hasFinalizer(object, finalizer)) return finalizer
  return takeOver ? goManagersFinalizer(object) : undefined
}

function decideServing(snapshot: BalancerSnapshot, holder: string | undefined): BalancerDecision {
  const { object, finalizer, record } = snapshot
  const claim = holder === finalizer ? 'none' : holder === undefined ? 'add' : 'takeOver'
  const other = otherProvidersFinalizer(object, finalizer)
  if (claim === 'add' && other !== undefined) {
    return { do: 'nothing', reason: `another provider holds it by finalizer ${other}` }
  }
  // Without its balancer in the provider's record a second one would be made.
  if (claim === 'takeOver' && record === undefined) {
    return { do: 'nothing', reason: `the provider does not know the balancer that ${holder} stands for` }
  }
  const call = callFor(snapshot)
  return claim === 'none' && call === 'none' && isPublished(snapshot) ? { do: 'settled' } : { do: 'serve', claim, call }
}

/** A provider that keeps no fingerprint is called each time, as the Go manager does. */
function callFor({ record, verify, inputs }: BalancerSnapshot): 'ensure' | 'update' | 'none' {
  if (record === undefined) return 'ensure'
  return record.fingerprint === inputs.fingerprint && !verify ? 'none' : 'update'
}

/** Undefined from the provider means "leave what is there". */
function isPublished({ object, record, inputs }: BalancerSnapshot): boolean {
  const loadBalancer = record?.status === undefined ? {} : { loadBalancer: record.status }
  const isUnchanged = statusPatch(object.status, { ...inputs.status, ...loadBalancer }) === undefined
  return isUnchanged && isConditionPublished(object, SERVED)
}
