import type { Kind } from '../../src/domain/kinds.ts'
import type { SweepScope } from '../../src/domain/sweep-report.ts'

/** What stays as it is for a whole history. */
export interface Setting {
  /** How many instances of the function; more than one share the Lease lock. */
  instances: number
  lock: 'process' | 'lease'
  /** How far each instance's clock is ahead. */
  skewsMs: number[]
  cloud: CloudSetting
  takeOver: boolean
  propagation: boolean
}

export interface CloudSetting {
  /** Until a call arrives. */
  latencyMs: number
  /** From a create until there is an address. */
  delayMs: number
  /** How long a new balancer reports one address and then another. */
  flapMs: number
  /** The consistency window that the provider states; late commits stay within it. */
  windowMs: number
  /** Whether it can list its balancers. */
  lists: boolean
}

export type BalancedName = 'web-a' | 'web-b' | 'game'

/** What users do. Of an object that is not there nothing is done. */
export type UserAction =
  | { do: 'create'; name: BalancedName; as: 'ours' | 'default' | 'another' | 'foreign' | 'claimed' }
  | { do: 'spec'; name: BalancedName; value: number }
  | { do: 'annotate'; name: BalancedName; value: number }
  | { do: 'label'; name: BalancedName; value: number }
  | { do: 'class'; name: BalancedName; to: 'ours' | 'default' | 'another' | 'missing' }
  | { do: 'delete'; name: BalancedName }
  /** Our finalizer, by hand. */
  | { do: 'strip'; name: BalancedName }
  /** All finalizers by hand, and gone. */
  | { do: 'vanish'; name: BalancedName }
  | { do: 'foreignFinalizer'; name: BalancedName; how: 'first' | 'last' | 'none' }
  | { do: 'status'; name: BalancedName; how: 'wrong' | 'cleared' | 'foreign' }
  | { do: 'ingressClass'; which: 'ours' | 'second'; how: 'present' | 'absent' | 'default' }
  | { do: 'slice'; service: 'web' | 'game'; cluster: 'edge-a' | 'edge-b'; hosts: number }
  | { do: 'binding'; service: 'web' | 'game'; clusters: number }
  | { do: 'service'; service: 'web' | 'game'; how: 'present' | 'absent' | 'annotated' }
  | { do: 'cluster'; cluster: 'edge-a' | 'edge-b'; blocked: boolean; told: boolean }

/** What happens to the function and around it. */
export type ChaosAction =
  /** The process is gone between two awaits; what it had sent may still land, as `lands` says. */
  | { do: 'kill'; instance: number; restartMs: number; lands: 'all' | 'never' | number }
  | { do: 'freeze'; instance: number; ms: number }
  /** A CloudEvent, true or not. */
  | { do: 'cloudEvent'; instance: number; kind: Kind; name: string; operation: 'CREATE' | 'UPDATE' | 'DELETE' }
  | { do: 'sweep'; instance: number; scope: SweepScope }
  /** Continue tokens of before are expired. */
  | { do: 'compact' }
  /** Nobody does anything for a while. */
  | { do: 'pause'; ms: number }

export type Action = UserAction | ChaosAction

/** What becomes of one request to the API server. */
export type ApiFault =
  | { api: 'conflict' | 'throttled' | 'failed' }
  /** Stored, and the answer is an error. */
  | { api: 'failedAfter' }
  | { api: 'lostBefore' }
  /** Done after so long; the answer never arrives. */
  | { api: 'lostAfter'; ms: number }
  | { api: 'slow'; ms: number }
  | { api: 'expired' }
  /** Somebody's webhook takes our finalizer out of the object again. */
  | { api: 'finalizerDropped' }

/** What becomes of one call to the cloud. */
export type CloudFault =
  | { cloud: 'failed' | 'failedAfter' | 'lostBefore' | 'lostAfter' }
  | { cloud: 'retryAfter'; ms: number }
  | { cloud: 'slow'; ms: number }
  /** Done after so long, even if nobody waits for it any more. */
  | { cloud: 'late'; ms: number }
  /** Of two parts one is deleted. */
  | { cloud: 'partial' }
  /** It answers that it cannot say yet. */
  | { cloud: 'unknown' }

/** What becomes of one admission review. */
export type ReviewFault =
  | { review: 'lost' | 'twice' | 'another' }
  /** Another webhook refuses the change afterwards. */
  | { review: 'refused' }

export type Fault = ApiFault | CloudFault | ReviewFault

/** One deviation from a history in which nothing happens and everything comes in order. */
export type Entry<A = Action> =
  | { at: number; action: A }
  /** Not the first step that is possible, but this one. */
  | { at: number; pick: number }
  /** The how-manyth of which call. */
  | { call: string; fault: Fault }

export interface History<S = Setting, A = Action> {
  seed: number
  setting: S
  entries: readonly Entry<A>[]
  /** The step at which nothing more is done; absent when the history did not come so far. */
  endsAt?: number
}
