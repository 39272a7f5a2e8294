import type { Action, ApiFault, CloudFault, Fault, ReviewFault, Setting } from './history.ts'

/** What a call looks like to those who decide what becomes of it. */
export interface CallToDecide {
  /** Names the call and which of its kind it is, in this history. */
  id: string
  what: 'read' | 'write' | 'claim' | 'page' | 'lease' | 'create' | 'delete' | 'look' | 'review'
}

/** How things stand when somebody may do something. */
export interface Moment {
  /** Nothing else can happen. */
  must: boolean
  /** Nothing can happen before time goes on. */
  isIdle: boolean
  /** Instances that hold a lock. */
  busy: readonly number[]
  /** Objects that do not exist. */
  absent: readonly string[]
}

/** Everything in a history that is not given by the world. */
export interface Decisions<S = Setting, A = Action> {
  setting: S
  /** What somebody does now, or `end` when nothing more is going to be done. */
  action(at: number, moment: Moment): A | 'end' | undefined
  /** Which of the possible steps is next. */
  pick(at: number, possible: number): number
  api(call: CallToDecide): ApiFault | undefined
  cloud(call: CallToDecide): CloudFault | undefined
  review(call: CallToDecide): ReviewFault | undefined
}

export function isApiFault(fault: Fault | undefined): fault is ApiFault {
  return fault !== undefined && 'api' in fault
}

export function isCloudFault(fault: Fault | undefined): fault is CloudFault {
  return fault !== undefined && 'cloud' in fault
}

export function isReviewFault(fault: Fault | undefined): fault is ReviewFault {
  return fault !== undefined && 'review' in fault
}
