import { hasFinalizer, otherProvidersFinalizer } from '../../domain/finalizers.ts'
import { isBeingDeleted } from '../../domain/kubernetes-object.ts'
import type { BalancerSnapshot } from './balancer-snapshot.ts'
import { statusPatch } from './computed-status.ts'

export type BalancerDecision =
  | { do: 'nothing'; reason: string }
  /** Ours by finalizer, but nobody can say whose it is now: what serves keeps serving. */
  | { do: 'hold'; reason: string }
  | { do: 'settled' }
  /** `none`: the balancer is as it should be, only the claim or the published status is not. */
  | { do: 'serve'; claim: boolean; call: 'ensure' | 'update' | 'none' }
  | { do: 'cleanUp' }

/**
 * The ownership table of DESIGN §7.
 *
 * | ownership | our finalizer | do |
 * |---|---|---|
 * | deleting (asked before the ownership) | present | clean up |
 * | deleting | absent | nothing |
 * | ours | any | serve |
 * | another's | present | clean up |
 * | unresolved | present | hold |
 * | another's, unresolved | absent | nothing |
 *
 * A provider that does not serve this kind can neither serve nor prove anything absent: present holds, absent is nothing.
 */
export function decideBalancer(snapshot: BalancerSnapshot): BalancerDecision {
  const { object, finalizer, ownership, capable } = snapshot
  const held = hasFinalizer(object, finalizer)
  const otherwise = (reason: string): BalancerDecision => ({ do: held ? 'hold' : 'nothing', reason })
  if (!capable) return otherwise(`the provider does not serve ${object.kind}`)
  if (isBeingDeleted(object))
    return held ? { do: 'cleanUp' } : { do: 'nothing', reason: 'being deleted, and not held by us' }
  if (ownership.kind === 'another') return held ? { do: 'cleanUp' } : { do: 'nothing', reason: ownership.reason }
  if (ownership.kind === 'unresolved') return otherwise(ownership.reason)
  const other = otherProvidersFinalizer(object, finalizer)
  if (!held && other !== undefined) return { do: 'nothing', reason: `another provider holds it by finalizer ${other}` }
  return decideServing(snapshot, held)
}

function decideServing(snapshot: BalancerSnapshot, held: boolean): BalancerDecision {
  const call = callFor(snapshot)
  return held && call === 'none' && isPublished(snapshot) ? { do: 'settled' } : { do: 'serve', claim: !held, call }
}

/** A provider that keeps no fingerprint is called each time, as the Go manager does. */
function callFor({ record, inputs }: BalancerSnapshot): 'ensure' | 'update' | 'none' {
  if (record === undefined) return 'ensure'
  return record.fingerprint === inputs.fingerprint ? 'none' : 'update'
}

/** Undefined from the provider means "leave what is there". */
function isPublished({ object, record, inputs }: BalancerSnapshot): boolean {
  const loadBalancer = record?.status === undefined ? {} : { loadBalancer: record.status }
  return statusPatch(object.status, { ...inputs.status, ...loadBalancer }) === undefined
}
