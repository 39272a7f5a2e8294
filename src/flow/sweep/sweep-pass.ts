import type { Kind } from '../../domain/kinds.ts'
import type { SweepReport } from '../../domain/sweep-report.ts'
import type { VerificationSettings } from '../../domain/verification.ts'
import type { SweepingReconciler } from '../../reconcilers/reconciler.ts'
import type { Flow } from '../flow.ts'
import type { ReadList } from '../known-reader.ts'
import type { SweptKind } from './sweep-plan.ts'

export interface SweepSettings extends VerificationSettings {
  pageSize: number
  concurrency: number
  /** For one call. */
  deadlineMs: number
}

/** One call of a sweep. What it keeps from page to page: names and uids, no objects but those that all need. */
export interface SweepPass {
  report: SweepReport
  kinds: readonly SweptKind[]
  shared: Promise<readonly ReadList[]>
  flow: Flow
  /** Of these kinds, reconcilers for this call. */
  sweeping: Readonly<Partial<Record<Kind, SweepingReconciler>>>
  settings: SweepSettings
  signal: AbortSignal
  isVerificationDue: (uid: string) => boolean
  /** What an earlier page has brought along of kinds whose pages come later. */
  planned: Set<string>
  /** Uids of objects that hold their balancer by our finalizer. */
  held: Set<string>
}
