import type { AdmissionRequest } from '../../domain/admission-request.ts'
import type { ClusterEvent } from '../../domain/cluster-event.ts'
import type { Finding } from '../../domain/finding.ts'
import type { JsonPatchOperation } from '../../domain/json-patch.ts'
import type { Outcome } from '../../domain/outcome.ts'
import type { SweepReport } from '../../domain/sweep-report.ts'
import type { WorkItem } from '../../domain/work-item.ts'
import type { SweepRequest } from '../../flow/sweep/sweep.ts'

/**
 * What stands behind the HTTP doors. Everything a door hands over is decoded and its types are checked, with one
 * exception: below `metadata` an object of a review is what somebody sent, not yet checked against any schema.
 */
export interface Doors {
  /** Pure: JSON Patch operations that add our finalizer, or none. Asked for CREATE and UPDATE of kinds we know. */
  mutate(request: AdmissionRequest): JsonPatchOperation[]
  /** Pure: what is wrong (any finding means denied) and warnings. Asked for CREATE and UPDATE of kinds we know. */
  validate(request: AdmissionRequest): Verdict | Promise<Verdict>
  /** Queues the keys the event concerns and says how many. Throws what the queue throws. Never reconciles. */
  acceptEvent(event: ClusterEvent): Promise<{ keys: number }>
  /** Reconciles one key now. */
  work(item: WorkItem, signal: AbortSignal): Promise<Outcome>
  /** Lists and reconciles. When the signal aborts it stops between two objects and says in `continue` where. */
  sweep(request: SweepRequest, signal: AbortSignal): Promise<SweepReport>
  readiness(): Promise<Readiness>
  /** In the text format of Prometheus. */
  metricsText(): Promise<string>
  /** True from SIGTERM on: every door but the probes then asks the caller to come back. */
  draining(): boolean
}

interface Verdict {
  findings: Finding[]
  warnings: string[]
}

export interface Readiness {
  ready: boolean
  checks: { name: string; ok: boolean; message: string }[]
}
