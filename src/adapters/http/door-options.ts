import type { Door } from '../../domain/door.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Metrics } from '../../ports/metrics.ts'
import type { Tracer } from '../../ports/tracer.ts'
import type { Tls } from './create-server.ts'
import type { DoorGuard } from './door-guard.ts'

export interface DoorOptions {
  logger: Logger
  metrics: Metrics
  /** Absent where nobody collects traces. */
  tracer?: Tracer
  clock: Clock
  /** The OpenAPI document as JSON text, served as it is. */
  openapi: () => Promise<string>
  /**
   * A secret segment before admission, events and sweep, e.g. `/7f3c…`: for callers that cannot send a credential.
   * Probes, metrics and the document stay where they are.
   */
  pathPrefix?: string
  tls?: Tls
  /** Who may call which door. */
  callers: Readonly<Record<Door, DoorGuard>>
  /** How long one sweep request, and one work event, may take. */
  sweepDeadlineMs: number
  workDeadlineMs: number
}

/** What guards every door needs of the options. */
export type GuardOptions = Pick<DoorOptions, 'logger' | 'metrics' | 'clock' | 'pathPrefix' | 'tls'> & {
  callers: Partial<DoorOptions['callers']>
}
