import type { Answer } from '../question.ts'

/** What a pass that found nothing to do had read, and what it came to. */
export interface SettledPass {
  /** Of the object. */
  resourceVersion: string
  /** Everything that the balancer is made from besides, and whose the object is. */
  answers: readonly Answer[]
  /** Paths of the object that others have; empty where there are none. */
  conflicts: string
  fingerprint: string
}
